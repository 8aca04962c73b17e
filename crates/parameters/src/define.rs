//! The macros.

/// Makes a struct of parameters from one row each: text, name, type, default, unit, range, source.
///
/// ```
/// covey_parameters::parameters! {
///     /// When a host hands over.
///     #[derive(Debug, Clone, PartialEq)]
///     pub struct Handover, checked by Self::agree {
///         /// It is further off than this.
///         beyond_m: f64 = 100.0, unit "m", range at_least(0.0), source "design";
///         /// Another one is nearer by this.
///         nearer_m: f64 = 50.0, unit "m", range above(0.0), source "design";
///     }
/// }
///
/// impl Handover {
///     fn agree(&self) -> Result<(), covey_parameters::OutOfRange> {
///         if self.nearer_m <= self.beyond_m {
///             return Ok(());
///         }
///         Err(covey_parameters::OutOfRange::new("nearer_m", self.nearer_m, "at most beyond_m"))
///     }
/// }
/// assert!(Handover { beyond_m: 10.0, ..Handover::default() }.validate().is_err());
/// ```
///
/// The struct gets public fields whose documentation names unit, default, range and source; `FIELDS`, the definitions;
/// `Default`; `validate`, which checks every range and then the rule named after `checked by`, if there is one; and is a
/// [`Parameter`](crate::Parameter) itself. `unit` and `range` may be left out; ranges are made of [`ranges`](crate::ranges).
/// Attributes before the struct are kept: derives, and those of serde, `#[serde(default, deny_unknown_fields)]` as a rule.
///
/// With rows that have no default, `pub struct Name without default { … }`: no `Default`, and in files all of them are given
/// or none.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $struct:ident $(, checked by $rule:path)? {
            $(
                $(#[doc = $text:literal])+
                $name:ident: $type:ty = $default:expr
                $(, unit $unit:literal)? $(, range $range:expr)?, source $source:literal;
            )+
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $struct {
            $(
                $(#[doc = $text])+
                #[doc = concat!(
                    "\n\nDefault `", stringify!($default), "`" $(, " ", $unit)? $(, "; range `", stringify!($range), "`")?,
                    "; source: ", $source, "."
                )]
                pub $name: $type,
            )+
        }

        impl ::core::default::Default for $struct {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        $crate::parameters! { @rest $struct [$($rule)?] false $(
            [$($text)+] $name: $type, [$($unit)?] [$($range)?] $source;
        )+ }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $struct:ident without default $(, checked by $rule:path)? {
            $(
                $(#[doc = $text:literal])+
                $name:ident: $type:ty
                $(, unit $unit:literal)? $(, range $range:expr)?, source $source:literal;
            )+
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $struct {
            $(
                $(#[doc = $text])+
                #[doc = concat!(
                    "\n\n" $(, "In ", $unit, "; ")? $(, "range `", stringify!($range), "`; ")?, "source: ", $source, "."
                )]
                pub $name: $type,
            )+
        }

        $crate::parameters! { @rest $struct [$($rule)?] true $(
            [$($text)+] $name: $type, [$($unit)?] [$($range)?] $source;
        )+ }
    };
    (@rest $struct:ident [$($rule:path)?] $required:literal $(
        [$($text:literal)+] $name:ident: $type:ty, [$($unit:literal)?] [$($range:expr)?] $source:literal;
    )+) => {
        impl $struct {
            /// The definitions, in the order of the fields.
            pub const FIELDS: &'static [$crate::Field] = {
                #[allow(unused_imports, reason = "not every struct has every kind of range")]
                use $crate::ranges::{above, any, at_least, at_most, below};
                &[$(
                    $crate::Field {
                        name: stringify!($name),
                        text: concat!($($text),+).trim_ascii(),
                        kind: <$type as $crate::Parameter>::KIND,
                        optional: <$type as $crate::Parameter>::OPTIONAL,
                        required: $required,
                        unit: concat!($($unit)?),
                        range: $crate::parameters!(@range $($range)?),
                        source: $source,
                    },
                )+]
            };

            /// Checks every parameter, and then the rules between them.
            ///
            /// # Errors
            /// The first that is out of range; NaN and infinities always are.
            pub fn validate(&self) -> ::core::result::Result<(), $crate::OutOfRange> {
                self.check_within(&$crate::Key::ROOT)
            }

            /// Tells every parameter with its value, in order.
            pub fn each(&self, visit: &mut $crate::Visit<'_>) {
                self.each_within(&$crate::Key::ROOT, visit);
            }

            fn check_within(&self, key: &$crate::Key<'_>) -> ::core::result::Result<(), $crate::OutOfRange> {
                let mut fields = Self::FIELDS.iter();
                $(
                    if let Some(field) = fields.next() {
                        $crate::Parameter::check(&self.$name, &key.join(stringify!($name)), field)?;
                    }
                )+
                $($rule(self).map_err(|error| error.within(key))?;)?
                Ok(())
            }

            fn each_within(&self, key: &$crate::Key<'_>, visit: &mut $crate::Visit<'_>) {
                let mut fields = Self::FIELDS.iter();
                $(
                    if let Some(field) = fields.next() {
                        $crate::Parameter::visit(&self.$name, &key.join(stringify!($name)), field, visit);
                    }
                )+
            }
        }

        impl $crate::Parameter for $struct {
            const KIND: $crate::Kind = $crate::Kind::Group(Self::FIELDS);

            fn value(&self) -> $crate::Value {
                $crate::Value::Group
            }

            fn visit(&self, key: &$crate::Key<'_>, _: &'static $crate::Field, visit: &mut $crate::Visit<'_>) {
                self.each_within(key, visit);
            }

            fn check(
                &self,
                key: &$crate::Key<'_>,
                _: &'static $crate::Field,
            ) -> ::core::result::Result<(), $crate::OutOfRange> {
                self.check_within(key)
            }
        }
    };
    (@range) => {
        any()
    };
    (@range $range:expr) => {
        $range
    };
}

/// Makes an enum whose values have names in files, with a line of text each. The first is the default.
///
/// ```
/// covey_parameters::choices! {
///     /// When an agent beacons.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum BeaconRule {
///         /// At a fixed rate.
///         Periodic = "periodic",
///         /// When its motion calls for it.
///         Triggered = "triggered",
///     }
/// }
/// assert_eq!(BeaconRule::default().name(), "periodic");
/// assert_eq!(BeaconRule::named("triggered"), Some(BeaconRule::Triggered));
/// assert_eq!(BeaconRule::CHOICES[1].text, "When its motion calls for it.");
/// ```
///
/// [`choices_by_name!`](crate::choices_by_name) writes and reads them with serde, by those names.
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[doc = $text:literal])+ $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $enum {
            $($(#[doc = $text])+ #[doc = concat!("\n\n`", $name, "` in files.")] $variant,)+
        }

        impl $enum {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Their names, each with what it means.
            pub const CHOICES: &'static [$crate::Choice] = &[$(
                $crate::Choice { name: $name, text: concat!($($text),+).trim_ascii() },
            )+];

            /// The name in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The one of this name.
            #[must_use]
            pub fn named(name: &str) -> ::core::option::Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl ::core::default::Default for $enum {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        impl $crate::Parameter for $enum {
            const KIND: $crate::Kind = $crate::Kind::Choice(Self::CHOICES);

            fn value(&self) -> $crate::Value {
                $crate::Value::Name(self.name())
            }
        }
    };
}

/// Lets serde write and read enums of [`choices!`] by their names. For crates that have serde.
#[macro_export]
macro_rules! choices_by_name {
    ($($enum:ty),+ $(,)?) => {
        $(
            impl serde::Serialize for $enum {
                fn serialize<S: serde::Serializer>(&self, to: S) -> ::core::result::Result<S::Ok, S::Error> {
                    to.serialize_str(self.name())
                }
            }

            impl<'de> serde::Deserialize<'de> for $enum {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                    let found = <$crate::alloc::string::String as serde::Deserialize>::deserialize(from)?;
                    Self::named(&found).ok_or_else(|| {
                        let known: $crate::alloc::vec::Vec<$crate::alloc::string::String> = Self::CHOICES
                            .iter()
                            .map(|choice| $crate::alloc::format!("`{}`", choice.name))
                            .collect();
                        serde::de::Error::custom($crate::alloc::format!(
                            "unknown variant `{found}`, expected {}",
                            known.join(" or ")
                        ))
                    })
                }
            }
        )+
    };
}
