//! The messages of OpenStreetMap's protobuf format, as far as they are read. Numbers of fields are those of the project's own
//! `fileformat.proto` and `osmformat.proto` (<https://wiki.openstreetmap.org/wiki/PBF_Format>); fields that are left out are passed over.

/// What stands before a blob.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct BlobHeader {
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(int32, tag = "3")]
    pub datasize: i32,
}

/// A part of a file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Blob {
    #[prost(oneof = "Packed", tags = "1, 3, 4, 6, 7")]
    pub data: Option<Packed>,
}

/// What a blob holds, packed in one way or another.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Packed {
    #[prost(bytes, tag = "1")]
    Raw(Vec<u8>),
    #[prost(bytes, tag = "3")]
    Zlib(Vec<u8>),
    #[prost(bytes, tag = "4")]
    Lzma(Vec<u8>),
    #[prost(bytes, tag = "6")]
    Lz4(Vec<u8>),
    #[prost(bytes, tag = "7")]
    Zstd(Vec<u8>),
}

/// What a file asks of its readers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HeaderBlock {
    #[prost(string, repeated, tag = "4")]
    pub required_features: Vec<String>,
}

/// Some thousand elements and their texts.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PrimitiveBlock {
    #[prost(message, optional, tag = "1")]
    pub strings: Option<StringTable>,
    /// [`PrimitiveGroup`], to be decoded one by one.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub groups: Vec<Vec<u8>>,
    /// Nanodegrees.
    #[prost(int32, optional, tag = "17", default = "100")]
    pub granularity: Option<i32>,
    #[prost(int64, optional, tag = "19", default = "0")]
    pub lat_offset: Option<i64>,
    #[prost(int64, optional, tag = "20", default = "0")]
    pub lon_offset: Option<i64>,
}

/// All texts of a block.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StringTable {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub strings: Vec<Vec<u8>>,
}

/// Elements of one kind, those that are messages to be decoded one by one.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PrimitiveGroup {
    /// [`Node`].
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub nodes: Vec<Vec<u8>>,
    #[prost(message, optional, tag = "2")]
    pub dense: Option<DenseNodes>,
    /// [`Way`].
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub ways: Vec<Vec<u8>>,
    /// [`Relation`].
    #[prost(bytes = "vec", repeated, tag = "4")]
    pub relations: Vec<Vec<u8>>,
}

/// A node; keys and values are numbers of texts.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(sint64, tag = "1")]
    pub id: i64,
    #[prost(uint32, repeated, tag = "2")]
    pub keys: Vec<u32>,
    #[prost(uint32, repeated, tag = "3")]
    pub values: Vec<u32>,
    #[prost(sint64, tag = "8")]
    pub lat: i64,
    #[prost(sint64, tag = "9")]
    pub lon: i64,
}

/// Many nodes, column by column.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DenseNodes {
    #[prost(sint64, repeated, tag = "1")]
    pub ids: Vec<i64>,
    #[prost(sint64, repeated, tag = "8")]
    pub lats: Vec<i64>,
    #[prost(sint64, repeated, tag = "9")]
    pub lons: Vec<i64>,
    #[prost(uint32, repeated, tag = "10")]
    pub tags: Vec<u32>,
}

/// A way along nodes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Way {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(uint32, repeated, tag = "2")]
    pub keys: Vec<u32>,
    #[prost(uint32, repeated, tag = "3")]
    pub values: Vec<u32>,
    #[prost(sint64, repeated, tag = "8")]
    pub refs: Vec<i64>,
}

/// Elements that belong together.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Relation {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(uint32, repeated, tag = "2")]
    pub keys: Vec<u32>,
    #[prost(uint32, repeated, tag = "3")]
    pub values: Vec<u32>,
    #[prost(uint32, repeated, tag = "8")]
    pub roles: Vec<u32>,
    #[prost(sint64, repeated, tag = "9")]
    pub members: Vec<i64>,
    #[prost(enumeration = "MemberType", repeated, tag = "10")]
    pub types: Vec<i32>,
}

/// What a member of a relation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum MemberType {
    Node = 0,
    Way = 1,
    Relation = 2,
}
