//! JSON of values: numbers, `true`/`false`, nested lists for tensors, objects for structs, lists for tuples,
//! `"Variant"` or `{"Variant": payload}` for enums.
//!
//! A tensor with an empty axis is `{"shape": [0, 3], "data": []}`; this form is read for any tensor. `"nan"`, `"inf"`
//! and `"-inf"` are read and written. Floats are written with the fewest digits that read back to the same bits.

mod read;
mod write;

use super::HostValue;
use super::files::{Budget, FileError};

pub(super) use read::from_text;
pub use read::{Misfit, from_json};
pub use write::write_json;

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;
    use cotan_lower::entry::{HostType, HostVariant};
    use cotan_sema::dims::{Atom, Dim, GenericId};
    use serde_json::Value as Json;

    fn tensor_ty(elem: Elem, rank: u32) -> HostType {
        let dims = (0..rank).map(|k| Dim::atom(Atom::Size(GenericId(k)))).collect();
        HostType::Tensor { elem: Box::new(HostType::Scalar(elem)), dims }
    }

    fn round_trip(text: &str, ty: &HostType) -> String {
        let json: Json = serde_json::from_str(text).expect("JSON");
        let shown = |read| {
            let mut out = String::new();
            match read {
                Ok(value) => write_json(&value, &mut out),
                Err(Misfit { place, expected, found }) => {
                    out = format!("at `{place}`: expected {expected}, found {found}")
                }
            }
            out
        };
        let (of_tree, of_text) = (from_json(&json, ty), from_text(text.as_bytes(), ty, &mut Budget::default()));
        assert_eq!(shown(of_tree), shown(of_text.clone()));
        shown(of_text)
    }

    #[test]
    fn values_read_back_as_they_were_written() {
        for (text, ty) in [
            ("[[1.0, 2.5], [0.1, -0.0]]", tensor_ty(Elem::F64, 2)),
            ("[0.1, 3.4028235e38]", tensor_ty(Elem::F32, 1)),
            ("[\"nan\", \"inf\", \"-inf\"]", tensor_ty(Elem::F64, 1)),
            ("{\"shape\": [0, 3], \"data\": []}", tensor_ty(Elem::F64, 2)),
            ("18446744073709551615", HostType::Scalar(Elem::U64)),
            ("true", HostType::Scalar(Elem::Bool)),
            ("null", HostType::Tuple(Vec::new())),
        ] {
            assert_eq!(round_trip(text, &ty), text);
        }
    }

    fn shape() -> HostType {
        let variant = |name: &str, payload| HostVariant { name: name.to_owned(), payload };
        HostType::Enum {
            name: "Shape".to_owned(),
            variants: vec![variant("Dot", None), variant("Circle", Some(HostType::Scalar(Elem::F64)))],
        }
    }

    #[test]
    fn enums_are_their_variant_with_its_payload() {
        for (text, expected) in [
            ("\"Dot\"", "\"Dot\""),
            ("{\"Circle\": 2.5}", "{\"Circle\": 2.5}"),
            ("\"Disk\"", "at ``: expected a variant of `Shape`: \"Dot\" or {\"Circle\": ...}, found `Disk`"),
            ("\"Circle\"", "at ``: expected {\"Circle\": ...}, found \"Circle\""),
            ("{\"Dot\": 1}", "at ``: expected \"Dot\", found an object"),
            ("{\"Circle\": true}", "at `.Circle`: expected f64, found true"),
            ("3", "at ``: expected a variant of `Shape`: \"Dot\" or {\"Circle\": ...}, found 3"),
        ] {
            assert_eq!(round_trip(text, &shape()), expected);
        }
    }

    #[test]
    fn misfits_name_the_place_and_both_sides() {
        for (text, ty, message) in [
            (
                "[[1, 2], [3]]",
                tensor_ty(Elem::F64, 2),
                "at `[1]`: expected lists of one length at level 1, found a ragged list: one of length 2 and one of length 1",
            ),
            ("[[1, 2], [true, 3]]", tensor_ty(Elem::F64, 2), "at `[1][0]`: expected f64, found true"),
            (
                "{\"shape\": [2, -1], \"data\": []}",
                tensor_ty(Elem::F64, 2),
                "at ``: expected a list of sizes as `shape` and a list as `data`, found something else",
            ),
            ("{\"data\": [1]}", tensor_ty(Elem::F64, 1), "at ``: expected nested lists of rank 1, found an object"),
            ("[1, 2]", HostType::Scalar(Elem::F64), "at ``: expected f64, found a list of 2"),
            ("1.5", HostType::Scalar(Elem::I64), "at ``: expected i64, found 1.5"),
            ("300", HostType::Scalar(Elem::U8), "at ``: expected u8 from 0 to 255, found 300"),
            ("[1e6]", tensor_ty(Elem::F16, 1), "at `[0]`: expected a number in the range of f16, found 1000000.0"),
            (
                "{\"shape\": [2], \"data\": [1]}",
                tensor_ty(Elem::F64, 1),
                "at ``: expected as many elements as shape [2] has, found 1",
            ),
        ] {
            assert_eq!(round_trip(text, &ty), message);
        }
    }

    #[test]
    fn what_a_value_takes_is_counted_before_it_is_there() {
        let read = |text: &str, ty: &HostType, bytes: u64| from_text(text.as_bytes(), ty, &mut Budget::new(bytes));
        let text = "[[1, 2], [3, 4]]";
        assert!(read(text, &tensor_ty(Elem::U8, 2), 32).is_ok());
        let refused = read(text, &tensor_ty(Elem::U8, 2), 31).unwrap_err();
        assert_eq!((refused.place.as_str(), refused.expected.as_str()), ("[1][1]", "a value that memory holds"));
        // What the type does not want takes nothing.
        assert_eq!(read("[1, 2, 3]", &HostType::Scalar(Elem::F64), 0).unwrap_err().found, "a list of 3");
    }
}
