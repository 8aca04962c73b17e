//! What the macros make of their rows.

use covey_parameters::{Kind, OutOfRange, Value, choices, choices_by_name, parameters};

choices! {
    /// Whose eyes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Eyes {
        /// One's own.
        Own = "own",
        /// Those of
        /// everybody.
        All = "all-of-them",
    }
}
choices_by_name!(Eyes);

parameters! {
    /// Inner.
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Inner without default, checked by Self::agree {
        /// Least.
        least: f64, unit "m", range at_least(0.0).at_most(9.0), source "a";
        /// Most.
        most: f64, source "b";
    }
}

impl Inner {
    fn agree(&self) -> Result<(), OutOfRange> {
        match self.least <= self.most {
            true => Ok(()),
            false => Err(OutOfRange::new("most", self.most, "at least `least`")),
        }
    }
}

parameters! {
    /// Outer.
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Outer {
        /// A share
        /// of it.
        share: f64 = 0.5, unit "share of it", range above(0.0).at_most(1.0), source "letter";
        /// How many.
        count: u32 = 3, range at_least(1.0), source "design";
        /// Whose.
        eyes: Eyes = Eyes::All, source "design";
        /// Perhaps.
        limit: Option<f64> = None, unit "s", range above(0.0), source "design";
        /// A group.
        inner: Inner = Inner { least: 1.0, most: 2.0 }, source "design";
        /// Names.
        names: Vec<String> = Vec::new(), source "design";
    }
}

#[test]
fn a_row_is_all_there_is_to_know() {
    let field = &Outer::FIELDS[0];
    assert_eq!((field.name, field.text), ("share", "A share of it."));
    assert_eq!((field.unit, field.source), ("share of it", "letter"));
    assert!(!field.optional && !field.required);
    assert!(Outer::FIELDS[3].optional);
    assert_eq!(
        Outer::FIELDS[2].kind.choices()[1].text,
        "Those of everybody."
    );
    assert_eq!(Outer::FIELDS[4].kind, Kind::Group(Inner::FIELDS));
    assert!(Inner::FIELDS[0].required);
    assert_eq!(Outer::FIELDS[5].kind, Kind::List(&Kind::Text));
    assert_eq!(Outer::default().share, 0.5);
}

#[test]
fn every_value_is_told_in_order() {
    let mut told = Vec::new();
    Outer::default().each(&mut |key, field, value| {
        assert!(key.to_string().ends_with(field.name));
        told.push((key.to_string(), value));
    });
    let expected = [
        ("share", Value::Number(0.5)),
        ("count", Value::Whole(3)),
        ("eyes", Value::Name("all-of-them")),
        ("limit", Value::None),
        ("inner.least", Value::Number(1.0)),
        ("inner.most", Value::Number(2.0)),
        ("names", Value::List(Vec::new())),
    ];
    let expected: Vec<_> = expected.map(|(key, value)| (key.to_string(), value)).into();
    assert_eq!(told, expected);
}

#[test]
fn whatever_is_out_of_range_is_refused_by_name() {
    let refuse = |change: fn(&mut Outer)| {
        let mut outer = Outer::default();
        change(&mut outer);
        outer.validate().unwrap_err().to_string()
    };
    assert_eq!(Outer::default().validate(), Ok(()));
    assert_eq!(
        refuse(|o| o.share = f64::NAN),
        "share: found NaN, expected above 0 and at most 1 (a share of it)"
    );
    assert_eq!(
        refuse(|o| o.count = 0),
        "count: found 0, expected a number of at least 1"
    );
    assert_eq!(
        refuse(|o| o.limit = Some(f64::INFINITY)),
        "limit: found inf, expected a number above 0"
    );
    assert_eq!(
        refuse(|o| o.inner.least = 10.0),
        "inner.least: found 10, expected 0 to 9 m"
    );
    assert_eq!(
        refuse(|o| o.inner.most = 0.0),
        "inner.most: found 0, expected at least `least`"
    );
    assert!(refuse(|o| o.inner.most = f64::NAN).contains("a finite number"));
}

#[test]
fn files_use_the_names() {
    let text = serde_json::to_string(&Outer::default()).unwrap();
    assert!(text.contains(r#""eyes":"all-of-them""#), "{text}");
    let read: Outer = serde_json::from_str(r#"{"eyes": "own", "limit": 2.0}"#).unwrap();
    assert_eq!(
        (read.eyes, read.limit, read.count),
        (Eyes::Own, Some(2.0), 3)
    );
    let error = |text| serde_json::from_str::<Outer>(text).unwrap_err().to_string();
    assert!(
        error(r#"{"eyes": "none"}"#)
            .contains("unknown variant `none`, expected `own` or `all-of-them`")
    );
    assert!(error(r#"{"shar": 1.0}"#).contains("unknown field `shar`"));
    assert!(error(r#"{"inner": {"least": 1.0}}"#).contains("missing field `most`"));
}
