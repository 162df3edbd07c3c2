(** What every headline theorem assumes. `cargo xtask proofs` holds the output against
    axioms.expected. *)
From Cotan Require Import Tape Scalar Tensor Loops Rule Slope Grad Exec Check Rules_gen.
Print Assumptions forward_correspondence.
Print Assumptions backward_dense_correct.
Print Assumptions back_adjoint.
Print Assumptions compile_wf.
Print Assumptions loop_total.
Print Assumptions loop_final.
Print Assumptions loop_skip_correct.
Print Assumptions scatter_perm.
Print Assumptions privatised_any_split.
Print Assumptions local_unique.
Print Assumptions reverse_adjoint.
Print Assumptions grad_is_partial.
Print Assumptions gather_adjoint.
Print Assumptions scatter_adjoint.
Print Assumptions contract_adjoint_l.
Print Assumptions contract_adjoint_r.
Print Assumptions matmul_adjoint_l.
Print Assumptions stack_correct.
Print Assumptions while_reverse.
Print Assumptions while_total.
Print Assumptions checkpoint_correct.
Print Assumptions model_adjoint.
Print Assumptions fn_derive.
Print Assumptions slope_correct.
Print Assumptions proved_rules_ok.
Print Assumptions grad_correct.
Print Assumptions grad_partial.
Print Assumptions check_sound.
