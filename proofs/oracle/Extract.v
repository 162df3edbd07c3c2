(** What the oracle runs, taken out of the theories: numbers of Coq become machine
    integers (positions) and Zarith integers (residues). *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Cotan Require Import Rule Exec Check Grad Rules_gen.

Extraction Language OCaml.
Extraction "model.ml" values cotangents well_formed zleaf zuse zcontest certified constant rules proved_rules r_name r_reals.
