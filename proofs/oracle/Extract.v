(** What the oracle runs, taken out of the theories: numbers of Coq become machine
    integers (positions) and Zarith integers (residues). *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlNativeString.
From Cotan Require Import Rule Exec Check Grad Rules_gen Certificate.

Extraction Language OCaml.
Extraction "model.ml" values cotangents well_formed zleaf zuse zcontest accepted first_unshown rules r_name r_reals.
