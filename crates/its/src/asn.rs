//! The outer ASN.1 types of CAM and CPM, written again where the generated ones cannot be used.
//!
//! The inner containers are those of `c-its-parser`. Three things differ here, each invisible to a round trip and found by
//! foreign decoders only:
//!
//! - `CamParameters` and `CpmPayload` carry our extension as their second addition. The first is left alone: in TS 103 900 it
//!   is `extensionContainers`; what a foreign message has there is skipped.
//! - The list of CPM containers has a size of 1 to 8 *without* an extension bit: the inner constraint of TS 103 324 takes the
//!   extensibility of the size away (X.680, serial constraints). The generated type writes one bit too many.

use c_its_parser::standards::cam_1_4_1::cam_pdu_descriptions as stock;
use c_its_parser::standards::cdd_1_3_1_1::its_container as cdd1;
use c_its_parser::standards::cdd_2_2_1::etsi_its_cdd as cdd2;
use c_its_parser::standards::cpm_2_1_1::cpm_pdu_descriptions as cpm;
use rasn::prelude::*;

/// What stands in a place that belongs to somebody else: nothing is written, whatever is read is skipped.
pub(crate) type Reserved = ();

/// The bytes of an addition, whatever they are: a message counts also where another one's addition stands in our place. A message
/// that is cut inside it is still refused, since the addition tells its length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OpenBytes(pub(crate) Vec<u8>);

#[derive(AsnType, Debug, Clone, Copy, Decode, Encode)]
#[rasn(delegate, value("0..=255"))]
struct OpenByte(u8);

impl AsnType for OpenBytes {
    const TAG: Tag = Tag::OCTET_STRING;
}

impl Decode for OpenBytes {
    fn decode_with_tag_and_constraints<D: Decoder>(
        decoder: &mut D,
        _: Tag,
        _: Constraints,
    ) -> Result<Self, D::Error> {
        // The decoder holds this addition's bytes alone: all that it has are taken.
        let mut bytes = Vec::new();
        while let Ok(OpenByte(byte)) = OpenByte::decode(decoder) {
            bytes.push(byte);
        }
        Ok(Self(bytes))
    }
}

impl Encode for OpenBytes {
    fn encode_with_tag_and_constraints<'b, E: Encoder<'b>>(
        &self,
        encoder: &mut E,
        _: Tag,
        _: Constraints,
        _: Identifier,
    ) -> Result<(), E::Error> {
        self.0
            .iter()
            .try_for_each(|&byte| OpenByte(byte).encode(encoder))
    }
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
pub(crate) struct CamMessage {
    pub(crate) header: cdd1::ItsPduHeader,
    pub(crate) cam: CoopAwareness,
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
pub(crate) struct CoopAwareness {
    pub(crate) generation_delta_time: stock::GenerationDeltaTime,
    pub(crate) cam_parameters: CamParameters,
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
#[non_exhaustive]
pub(crate) struct CamParameters {
    pub(crate) basic_container: stock::BasicContainer,
    pub(crate) high_frequency_container: stock::HighFrequencyContainer,
    pub(crate) low_frequency_container: Option<stock::LowFrequencyContainer>,
    pub(crate) special_vehicle_container: Option<stock::SpecialVehicleContainer>,
    #[rasn(extension_addition)]
    pub(crate) extension_containers: Option<Reserved>,
    /// An octet string of 1 to 255 bytes: its length less one in a byte, then the bytes.
    #[rasn(extension_addition)]
    pub(crate) coverage_digest: Option<OpenBytes>,
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
pub(crate) struct CpmMessage {
    pub(crate) header: cdd2::ItsPduHeader,
    pub(crate) payload: CpmPayload,
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
#[non_exhaustive]
pub(crate) struct CpmPayload {
    pub(crate) management_container: cpm::ManagementContainer,
    pub(crate) cpm_containers: Containers,
    #[rasn(extension_addition)]
    pub(crate) reserved: Option<Reserved>,
    /// A [`FusedStateExtension`].
    #[rasn(extension_addition)]
    pub(crate) fused_state: Option<OpenBytes>,
}

#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(delegate, size("1..=8"))]
pub(crate) struct Containers(pub(crate) SequenceOf<cpm::WrappedCpmContainer>);

/// What a host says besides its objects; `docs/messages.md` has it as ASN.1.
#[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(automatic_tags)]
#[non_exhaustive]
pub(crate) struct FusedStateExtension {
    #[rasn(value("-8388608..=8388607"))]
    pub(crate) tile_x: i32,
    #[rasn(value("-8388608..=8388607"))]
    pub(crate) tile_y: i32,
    #[rasn(value("0..=4294967295"))]
    pub(crate) sequence: u32,
    #[rasn(value("0..=4294967295"))]
    pub(crate) epoch: u32,
    #[rasn(value("0..=4294967295"))]
    pub(crate) tenure: u32,
    #[rasn(value("0..=16777215"))]
    pub(crate) price: u32,
    #[rasn(value("0..=65535"))]
    pub(crate) cycle_age: u16,
    #[rasn(value("0..=65535"))]
    pub(crate) unchanged_age: u16,
    #[rasn(value("0..=65535"))]
    pub(crate) lease: u16,
    #[rasn(value("0..=4"))]
    pub(crate) content: u8,
    pub(crate) full: bool,
    #[rasn(size("0..=255"))]
    pub(crate) contributors: SequenceOf<cdd2::StationId>,
    #[rasn(size("0..=255"))]
    pub(crate) requested: SequenceOf<cdd2::StationId>,
    #[rasn(size("0..=1023"))]
    pub(crate) withdrawn_stations: SequenceOf<cdd2::StationId>,
    #[rasn(size("0..=1023"))]
    pub(crate) withdrawn: SequenceOf<cdd2::Identifier2B>,
    #[rasn(size("0..=255"))]
    pub(crate) stations: SequenceOf<cdd2::StationId>,
}

/// CPMs as stations that know nothing of us read them, with the right container list.
#[cfg(test)]
pub(crate) mod plain {
    use super::*;

    #[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
    #[rasn(automatic_tags)]
    pub(crate) struct PlainCpmMessage {
        pub(crate) header: cdd2::ItsPduHeader,
        pub(crate) payload: PlainCpmPayload,
    }

    #[derive(AsnType, Debug, Clone, Decode, Encode, PartialEq, Eq, Hash)]
    #[rasn(automatic_tags)]
    #[non_exhaustive]
    pub(crate) struct PlainCpmPayload {
        pub(crate) management_container: cpm::ManagementContainer,
        pub(crate) cpm_containers: Containers,
    }
}
