(** Every scalar rule of the op table, and the proof that it is right.
    Written by `cargo xtask export-rules`; don't edit. *)

From Cotan Require Import Rule Prove.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.

Definition add_rule : rule := Rule "add" 2
  (Add (X 0) (X 1))
  []
  [(Q 1 1); (Q 1 1)].
Lemma add_ok : rule_ok add_rule. Proof. rule_tac. Qed.

Definition sub_rule : rule := Rule "sub" 2
  (Sub (X 0) (X 1))
  []
  [(Q 1 1); (Q (-1) 1)].
Lemma sub_ok : rule_ok sub_rule. Proof. rule_tac. Qed.

Definition mul_rule : rule := Rule "mul" 2
  (Mul (X 0) (X 1))
  []
  [(X 1); (X 0)].
Lemma mul_ok : rule_ok mul_rule. Proof. rule_tac. Qed.

Definition mulz_rule : rule := Rule "mulz" 2
  (Mul (X 0) (X 1))
  []
  [(X 1); (X 0)].
Lemma mulz_ok : rule_ok mulz_rule. Proof. rule_tac. Qed.

Definition mulg_rule : rule := Rule "mulg" 2
  (Mul (X 0) (X 1))
  []
  [(X 1); (X 0)].
Lemma mulg_ok : rule_ok mulg_rule. Proof. rule_tac. Qed.

Definition mulc_rule : rule := Rule "mulc" 2
  (Mul (X 0) (X 1))
  []
  [(X 1); (X 0)].
Lemma mulc_ok : rule_ok mulc_rule. Proof. rule_tac. Qed.

Definition div_rule : rule := Rule "div" 2
  (Div (X 0) (X 1))
  [(Nonzero (X 1))]
  [(Div (Q 1 1) (X 1)); (Neg (Mul Y (Div (Q 1 1) (X 1))))].
Lemma div_ok : rule_ok div_rule. Proof. rule_tac. Qed.

Definition neg_rule : rule := Rule "neg" 1
  (Neg (X 0))
  []
  [(Q (-1) 1)].
Lemma neg_ok : rule_ok neg_rule. Proof. rule_tac. Qed.

Definition fma_rule : rule := Rule "fma" 3
  (Add (Mul (X 0) (X 1)) (X 2))
  []
  [(X 1); (X 0); (Q 1 1)].
Lemma fma_ok : rule_ok fma_rule. Proof. rule_tac. Qed.

Definition sqrt_rule : rule := Rule "sqrt" 1
  (Fn Sqrt (X 0))
  [(Positive (X 0))]
  [(Mul (Q 1 2) (If AtMost (Q 0 1) (Div (Q 1 1) Y) (Div (Q 1 1) Y) (Neg (Div (Q 1 1) Y))))].
Lemma sqrt_ok : rule_ok sqrt_rule. Proof. rule_tac. Qed.

Definition rsqrt_rule : rule := Rule "rsqrt" 1
  (Div (Q 1 1) (Fn Sqrt (X 0)))
  [(Positive (X 0))]
  [(Mul (Mul (Q (-1) 2) Y) (Mul Y Y))].
Lemma rsqrt_ok : rule_ok rsqrt_rule. Proof. rule_tac. Qed.

Definition cbrt_rule : rule := Rule "cbrt" 1
  (If AtMost (Q 0 1) (X 0) (Pow (X 0) (Named 6004799503160661 18014398509481984 (Div (Q 1 1) (Q 3 1)))) (Neg (Pow (Neg (X 0)) (Named 6004799503160661 18014398509481984 (Div (Q 1 1) (Q 3 1))))))
  [(Nonzero (X 0))]
  [(Div (Named 6004799503160661 18014398509481984 (Div (Q 1 1) (Q 3 1))) (Mul Y Y))].
Lemma cbrt_ok : rule_ok cbrt_rule. Proof. rule_tac. Qed.

Definition recip_rule : rule := Rule "recip" 1
  (Div (Q 1 1) (X 0))
  [(Nonzero (X 0))]
  [(Neg (Mul Y Y))].
Lemma recip_ok : rule_ok recip_rule. Proof. rule_tac. Qed.

Definition square_rule : rule := Rule "square" 1
  (Mul (X 0) (X 0))
  []
  [(Mul (Q 2 1) (X 0))].
Lemma square_ok : rule_ok square_rule. Proof. rule_tac. Qed.

Definition powi_rule : rule := Rule "powi" 1
  (PowZ (X 0) (Par 0))
  [(Nonzero (X 0))]
  [(Mul (OfWhole (Par 0)) (PowZ (X 0) (ISub (Par 0) (Lit 1))))].
Lemma powi_ok : rule_ok powi_rule. Proof. rule_tac. Qed.

Definition pow_rule : rule := Rule "pow" 2
  (Pow (X 0) (X 1))
  [(Positive (X 0))]
  [(Mul (X 1) (Pow (X 0) (Sub (X 1) (Q 1 1)))); (If Same (X 0) (Q 0 1) (If AtMost (Q 0 1) (X 1) (Q 0 1) (Mul Y (Fn Ln (X 0)))) (Mul Y (Fn Ln (X 0))))].
Lemma pow_ok : rule_ok pow_rule. Proof. rule_tac. Qed.

Definition power_below_rule : rule := Rule "power_below" 2
  (Pow (X 0) (Sub (X 1) (Q 1 1)))
  [(Positive (X 0))]
  [(Mul (Sub (X 1) (Q 1 1)) (Pow (X 0) (Sub (Sub (X 1) (Q 1 1)) (Q 1 1)))); (If Same (X 0) (Q 0 1) (If AtMost (Q 1 1) (X 1) (Q 0 1) (Mul Y (Fn Ln (X 0)))) (Mul Y (Fn Ln (X 0))))].
Lemma power_below_ok : rule_ok power_below_rule. Proof. rule_tac. Qed.

Definition abs_rule : rule := Rule "abs" 1
  (If AtMost (Q 0 1) (X 0) (X 0) (Neg (X 0)))
  [(Nonzero (X 0))]
  [(If Less (Q 0 1) (X 0) (Q 1 1) (If Less (X 0) (Q 0 1) (Q (-1) 1) (X 0)))].
Lemma abs_ok : rule_ok abs_rule. Proof. rule_tac. Qed.

Definition sign_rule : rule := Rule "sign" 1
  (If Less (Q 0 1) (X 0) (Q 1 1) (If Less (X 0) (Q 0 1) (Q (-1) 1) (X 0)))
  [(Nonzero (X 0))]
  [(Q 0 1)].
Lemma sign_ok : rule_ok sign_rule. Proof. rule_tac. Qed.

Definition floor_rule : rule := Rule "floor" 1
  (Fn Floor (X 0))
  [(NotWhole (X 0))]
  [(Q 0 1)].
Lemma floor_ok : rule_ok floor_rule. Proof. rule_tac. Qed.

Definition ceil_rule : rule := Rule "ceil" 1
  (Neg (Fn Floor (Neg (X 0))))
  [(NotWhole (X 0))]
  [(Q 0 1)].
Lemma ceil_ok : rule_ok ceil_rule. Proof. rule_tac. Qed.

Definition trunc_rule : rule := Rule "trunc" 1
  (If AtMost (Q 0 1) (X 0) (Fn Floor (X 0)) (Neg (Fn Floor (Neg (X 0)))))
  [(NotWhole (X 0))]
  [(Q 0 1)].
Lemma trunc_ok : rule_ok trunc_rule. Proof. rule_tac. Qed.

Definition round_rule : rule := Rule "round" 1
  (If AtMost (Q 0 1) (X 0) (Fn Floor (Add (X 0) (Q 1 2))) (Neg (Fn Floor (Add (Neg (X 0)) (Q 1 2)))))
  [(NotWhole (Add (X 0) (Q 1 2)))]
  [(Q 0 1)].
Lemma round_ok : rule_ok round_rule. Proof. rule_tac. Qed.

Definition copysign_rule : rule := Rule "copysign" 2
  (If AtMost (Q 0 1) (X 1) (If AtMost (Q 0 1) (X 0) (X 0) (Neg (X 0))) (Neg (If AtMost (Q 0 1) (X 0) (X 0) (Neg (X 0)))))
  [(Nonzero (X 0)); (Nonzero (X 1))]
  [(Mul (If Less (Q 0 1) (X 0) (Q 1 1) (If Less (X 0) (Q 0 1) (Q (-1) 1) (X 0))) (If AtMost (Q 0 1) (X 1) (If AtMost (Q 0 1) (Q 1 1) (Q 1 1) (Neg (Q 1 1))) (Neg (If AtMost (Q 0 1) (Q 1 1) (Q 1 1) (Neg (Q 1 1)))))); (Q 0 1)].
Lemma copysign_ok : rule_ok copysign_rule. Proof. rule_tac. Qed.

Definition stop_gradient_rule : rule := Rule "stop_gradient" 1
  (X 0)
  []
  [(Q 0 1)].
(* nothing to prove: the partials are conventions *)

Definition after_rule : rule := Rule "after" 2
  (X 0)
  []
  [(Q 1 1); (Q 0 1)].
Lemma after_ok : rule_ok after_rule. Proof. rule_tac. Qed.

Definition with_derivative_of_rule : rule := Rule "with_derivative_of" 2
  (X 0)
  []
  [(Q 0 1); (Q 1 1)].
(* nothing to prove: the partials are conventions *)

Definition rem_rule : rule := Rule "rem" 2
  (Sub (X 0) (Mul (X 1) (If AtMost (Q 0 1) (Div (X 0) (X 1)) (Fn Floor (Div (X 0) (X 1))) (Neg (Fn Floor (Neg (Div (X 0) (X 1))))))))
  [(Nonzero (X 1)); (NotWhole (Div (X 0) (X 1)))]
  [(If Same Y Y (Q 1 1) Undefined); (Neg (If AtMost (Q 0 1) (Div (Sub (X 0) Y) (X 1)) (Fn Floor (Add (Div (Sub (X 0) Y) (X 1)) (Q 1 2))) (Neg (Fn Floor (Add (Neg (Div (Sub (X 0) Y) (X 1))) (Q 1 2))))))].
Lemma rem_ok : rule_ok rem_rule. Proof. rule_tac. Qed.

Definition hypot_rule : rule := Rule "hypot" 2
  (Fn Sqrt (Add (Mul (X 0) (X 0)) (Mul (X 1) (X 1))))
  [(Or (Nonzero (X 0)) (Nonzero (X 1)))]
  [(If Same Y (Q 0 1) (Q 0 1) (Div (X 0) Y)); (If Same Y (Q 0 1) (Q 0 1) (Div (X 1) Y))].
Lemma hypot_ok : rule_ok hypot_rule. Proof. rule_tac. Qed.

Definition max_rule : rule := Rule "max" 2
  (If AtMost (X 0) (X 1) (X 1) (X 0))
  [(Nonzero (Sub (X 0) (X 1)))]
  [(If Less (X 1) (X 0) (Q 1 1) (If Less (X 0) (X 1) (Q 0 1) (If Same (X 0) (X 1) (Q 1 2) Undefined))); (If Less (X 0) (X 1) (Q 1 1) (If Less (X 1) (X 0) (Q 0 1) (If Same (X 1) (X 0) (Q 1 2) Undefined)))].
Lemma max_ok : rule_ok max_rule. Proof. rule_tac. Qed.

Definition min_rule : rule := Rule "min" 2
  (If AtMost (X 0) (X 1) (X 0) (X 1))
  [(Nonzero (Sub (X 0) (X 1)))]
  [(If Less (X 0) (X 1) (Q 1 1) (If Less (X 1) (X 0) (Q 0 1) (If Same (X 1) (X 0) (Q 1 2) Undefined))); (If Less (X 1) (X 0) (Q 1 1) (If Less (X 0) (X 1) (Q 0 1) (If Same (X 0) (X 1) (Q 1 2) Undefined)))].
Lemma min_ok : rule_ok min_rule. Proof. rule_tac. Qed.

Definition wins_rule : rule := Rule "wins" 2
  (If Less (X 1) (X 0) (Q 1 1) (If Less (X 0) (X 1) (Q 0 1) (If Same (X 0) (X 1) (Q 1 2) Undefined)))
  [(Nonzero (Sub (X 0) (X 1)))]
  [(Q 0 1); (Q 0 1)].
Lemma wins_ok : rule_ok wins_rule. Proof. rule_tac. Qed.

Definition share_rule : rule := Rule "share" 3
  (If Less (X 2) (X 1) (X 0) (If Less (X 1) (X 2) (Q 0 1) (If Same (X 1) (X 2) (Mul (Q 1 2) (X 0)) Undefined)))
  [(Nonzero (Sub (X 1) (X 2)))]
  [(If Less (X 2) (X 1) (Q 1 1) (If Less (X 1) (X 2) (Q 0 1) (If Same (X 1) (X 2) (Q 1 2) Undefined))); (Q 0 1); (Q 0 1)].
Lemma share_ok : rule_ok share_rule. Proof. rule_tac. Qed.

Definition clamp_rule : rule := Rule "clamp" 3
  (If AtMost (If AtMost (X 0) (X 1) (X 1) (X 0)) (X 2) (If AtMost (X 0) (X 1) (X 1) (X 0)) (X 2))
  [(Nonzero (Sub (X 0) (X 1))); (Nonzero (Sub (X 0) (X 2))); (Nonzero (Sub (X 1) (X 2)))]
  [(If AtMost (X 1) (X 0) (If AtMost (X 0) (X 2) (Q 1 1) (If Same Y Y (Q 0 1) Undefined)) (If Same Y Y (Q 0 1) Undefined)); (If Less (X 0) (X 1) (If AtMost (X 1) (X 2) (Q 1 1) (If Same Y Y (Q 0 1) Undefined)) (If Same Y Y (Q 0 1) Undefined)); (If Less (X 2) (X 0) (Q 1 1) (If Less (X 2) (X 1) (Q 1 1) (If Same Y Y (Q 0 1) Undefined)))].
Lemma clamp_ok : rule_ok clamp_rule. Proof. rule_tac. Qed.

Definition relu_rule : rule := Rule "relu" 1
  (If AtMost (X 0) (Q 0 1) (Q 0 1) (X 0))
  [(Nonzero (X 0))]
  [(If AtMost (If Less (Q 0 1) (X 0) (Q 1 1) (If Less (X 0) (Q 0 1) (Q (-1) 1) (X 0))) (Q 0 1) (Q 0 1) (If Less (Q 0 1) (X 0) (Q 1 1) (If Less (X 0) (Q 0 1) (Q (-1) 1) (X 0))))].
Lemma relu_ok : rule_ok relu_rule. Proof. rule_tac. Qed.

Definition exp_rule : rule := Rule "exp" 1
  (Fn Exp (X 0))
  []
  [Y].
Lemma exp_ok : rule_ok exp_rule. Proof. rule_tac. Qed.

Definition exp2_rule : rule := Rule "exp2" 1
  (Fn Exp (Mul (X 0) (Named 6243314768165359 9007199254740992 (Fn Ln (Q 2 1)))))
  []
  [(Mul (Named 6243314768165359 9007199254740992 (Fn Ln (Q 2 1))) Y)].
Lemma exp2_ok : rule_ok exp2_rule. Proof. rule_tac. Qed.

Definition expm1_rule : rule := Rule "expm1" 1
  (Sub (Fn Exp (X 0)) (Q 1 1))
  []
  [(Fn Exp (X 0))].
Lemma expm1_ok : rule_ok expm1_rule. Proof. rule_tac. Qed.

Definition log_rule : rule := Rule "log" 1
  (Fn Ln (X 0))
  [(Positive (X 0))]
  [(If AtMost (Q 0 1) (X 0) (Div (Q 1 1) (X 0)) Undefined)].
Lemma log_ok : rule_ok log_rule. Proof. rule_tac. Qed.

Definition log2_rule : rule := Rule "log2" 1
  (Div (Fn Ln (X 0)) (Named 6243314768165359 9007199254740992 (Fn Ln (Q 2 1))))
  [(Positive (X 0))]
  [(If AtMost (Q 0 1) (X 0) (Div (Named 3248660424278399 2251799813685248 (Div (Q 1 1) (Fn Ln (Q 2 1)))) (X 0)) Undefined)].
Lemma log2_ok : rule_ok log2_rule. Proof. rule_tac. Qed.

Definition log10_rule : rule := Rule "log10" 1
  (Div (Fn Ln (X 0)) (Named 2592480341699211 1125899906842624 (Fn Ln (Q 10 1))))
  [(Positive (X 0))]
  [(If AtMost (Q 0 1) (X 0) (Div (Named 3911776933737095 9007199254740992 (Div (Q 1 1) (Fn Ln (Q 10 1)))) (X 0)) Undefined)].
Lemma log10_ok : rule_ok log10_rule. Proof. rule_tac. Qed.

Definition log1p_rule : rule := Rule "log1p" 1
  (Fn Ln (Add (Q 1 1) (X 0)))
  [(Positive (Sub (X 0) (Q (-1) 1)))]
  [(If AtMost (Q (-1) 1) (X 0) (Div (Q 1 1) (Add (Q 1 1) (X 0))) Undefined)].
Lemma log1p_ok : rule_ok log1p_rule. Proof. rule_tac. Qed.

Definition sin_rule : rule := Rule "sin" 1
  (Fn Sin (X 0))
  []
  [(Fn Cos (X 0))].
Lemma sin_ok : rule_ok sin_rule. Proof. rule_tac. Qed.

Definition cos_rule : rule := Rule "cos" 1
  (Fn Cos (X 0))
  []
  [(Neg (Fn Sin (X 0)))].
Lemma cos_ok : rule_ok cos_rule. Proof. rule_tac. Qed.

Definition tan_rule : rule := Rule "tan" 1
  (Fn Tan (X 0))
  [(Nonzero (Fn Cos (X 0)))]
  [(Add (Q 1 1) (Mul Y Y))].
Lemma tan_ok : rule_ok tan_rule. Proof. rule_tac. Qed.

Definition asin_rule : rule := Rule "asin" 1
  (Fn Asin (X 0))
  [(Positive (Sub (X 0) (Q (-1) 1))); (Positive (Sub (Q 1 1) (X 0)))]
  [(Div (Q 1 1) (Fn Sqrt (Mul (Sub (Q 1 1) (X 0)) (Add (Q 1 1) (X 0)))))].
Lemma asin_ok : rule_ok asin_rule. Proof. rule_tac. Qed.

Definition acos_rule : rule := Rule "acos" 1
  (Fn Acos (X 0))
  [(Positive (Sub (X 0) (Q (-1) 1))); (Positive (Sub (Q 1 1) (X 0)))]
  [(Div (Q (-1) 1) (Fn Sqrt (Mul (Sub (Q 1 1) (X 0)) (Add (Q 1 1) (X 0)))))].
Lemma acos_ok : rule_ok acos_rule. Proof. rule_tac. Qed.

Definition atan_rule : rule := Rule "atan" 1
  (Fn Atan (X 0))
  []
  [(Div (Named 1 1152921504606846976 (Q 1 1152921504606846976)) (Add (Named 1 1152921504606846976 (Q 1 1152921504606846976)) (Mul (Mul (Q 1 1073741824) (X 0)) (Mul (Q 1 1073741824) (X 0)))))].
Lemma atan_ok : rule_ok atan_rule. Proof. rule_tac. Qed.

Definition atan2_rule : rule := Rule "atan2" 2
  (Mul (Q 2 1) (Fn Atan (Div (X 0) (Add (Fn Sqrt (Add (Mul (X 0) (X 0)) (Mul (X 1) (X 1)))) (X 1)))))
  [(Or (Positive (X 1)) (Nonzero (X 0)))]
  [(If Same (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1))))) (Q 0 1) (Q 0 1) (Mul (Q 1 2) (Div (Div (Mul (Q 1 2) (X 1)) (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1)))))) (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1)))))))); (If Same (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1))))) (Q 0 1) (Q 0 1) (Mul (Q (-1) 2) (Div (Div (Mul (Q 1 2) (X 0)) (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1)))))) (Fn Sqrt (Add (Mul (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0))) (Mul (Mul (Q 1 2) (X 1)) (Mul (Q 1 2) (X 1))))))))].
Lemma atan2_ok : rule_ok atan2_rule. Proof. rule_tac. Qed.

Definition sinh_rule : rule := Rule "sinh" 1
  (Fn Sinh (X 0))
  []
  [(Fn Cosh (X 0))].
Lemma sinh_ok : rule_ok sinh_rule. Proof. rule_tac. Qed.

Definition cosh_rule : rule := Rule "cosh" 1
  (Fn Cosh (X 0))
  []
  [(Fn Sinh (X 0))].
Lemma cosh_ok : rule_ok cosh_rule. Proof. rule_tac. Qed.

Definition tanh_rule : rule := Rule "tanh" 1
  (Fn Tanh (X 0))
  []
  [(Div (Mul (Q 4 1) (Fn Exp (Neg (Add (X 0) (X 0))))) (Mul (Add (Q 1 1) (Fn Exp (Neg (Add (X 0) (X 0))))) (Add (Q 1 1) (Fn Exp (Neg (Add (X 0) (X 0)))))))].
Lemma tanh_ok : rule_ok tanh_rule. Proof. rule_tac. Qed.

Definition sech2_rule : rule := Rule "sech2" 1
  (Div (Mul (Q 4 1) (Fn Exp (Neg (Add (X 0) (X 0))))) (Mul (Add (Q 1 1) (Fn Exp (Neg (Add (X 0) (X 0))))) (Add (Q 1 1) (Fn Exp (Neg (Add (X 0) (X 0)))))))
  []
  [(Mul (Q (-2) 1) (Mul Y (Fn Tanh (X 0))))].
Lemma sech2_ok : rule_ok sech2_rule. Proof. rule_tac. Qed.

Definition asinh_rule : rule := Rule "asinh" 1
  (Fn Ln (Add (X 0) (Fn Sqrt (Add (Mul (X 0) (X 0)) (Q 1 1)))))
  []
  [(Div (Q 1 1) (Fn Sqrt (Add (Mul (Q 1 1) (Q 1 1)) (Mul (X 0) (X 0)))))].
Lemma asinh_ok : rule_ok asinh_rule. Proof. rule_tac. Qed.

Definition acosh_rule : rule := Rule "acosh" 1
  (Fn Ln (Add (X 0) (Mul (Fn Sqrt (Sub (X 0) (Q 1 1))) (Fn Sqrt (Add (X 0) (Q 1 1))))))
  [(Positive (Sub (X 0) (Q 1 1)))]
  [(Div (Q 1 1) (Mul (Fn Sqrt (Sub (X 0) (Q 1 1))) (Fn Sqrt (Add (X 0) (Q 1 1)))))].
Lemma acosh_ok : rule_ok acosh_rule. Proof. rule_tac. Qed.

Definition atanh_rule : rule := Rule "atanh" 1
  (Mul (Q 1 2) (Fn Ln (Div (Add (Q 1 1) (X 0)) (Sub (Q 1 1) (X 0)))))
  [(Positive (Sub (X 0) (Q (-1) 1))); (Positive (Sub (Q 1 1) (X 0)))]
  [(If AtMost (If AtMost (Q 0 1) (X 0) (X 0) (Neg (X 0))) (Q 1 1) (Div (Q 1 1) (Mul (Sub (Q 1 1) (X 0)) (Add (Q 1 1) (X 0)))) Undefined)].
Lemma atanh_ok : rule_ok atanh_rule. Proof. rule_tac. Qed.

Definition sigmoid_rule : rule := Rule "sigmoid" 1
  (Div (Q 1 1) (Add (Q 1 1) (Fn Exp (Neg (X 0)))))
  []
  [(Mul (Q 1 4) (Div (Mul (Q 4 1) (Fn Exp (Neg (Add (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0)))))) (Mul (Add (Q 1 1) (Fn Exp (Neg (Add (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0)))))) (Add (Q 1 1) (Fn Exp (Neg (Add (Mul (Q 1 2) (X 0)) (Mul (Q 1 2) (X 0)))))))))].
Lemma sigmoid_ok : rule_ok sigmoid_rule. Proof. rule_tac. Qed.

Definition erf_rule : rule := Rule "erf" 1
  (Fn Erf (X 0))
  []
  [(Mul (Named 5081767996463981 4503599627370496 (Div (Q 2 1) (Fn Sqrt (Mul (Q 4 1) (Fn Atan (Q 1 1)))))) (Mul (Fn Exp (Neg (Mul (X 0) (X 0)))) (Sub (Q 1 1) (Add (Mul (X 0) (X 0)) (Neg (Mul (X 0) (X 0)))))))].
Lemma erf_ok : rule_ok erf_rule. Proof. rule_tac. Qed.

Definition erfc_rule : rule := Rule "erfc" 1
  (Sub (Q 1 1) (Fn Erf (X 0)))
  []
  [(Mul (Named (-5081767996463981) 4503599627370496 (Neg (Div (Q 2 1) (Fn Sqrt (Mul (Q 4 1) (Fn Atan (Q 1 1))))))) (Mul (Fn Exp (Neg (Mul (X 0) (X 0)))) (Sub (Q 1 1) (Add (Mul (X 0) (X 0)) (Neg (Mul (X 0) (X 0)))))))].
Lemma erfc_ok : rule_ok erfc_rule. Proof. rule_tac. Qed.

Definition lgamma_rule : rule := Rule "lgamma" 1
  (Gamma (X 0) (Lit (-1)))
  [(Or (Positive (X 0)) (NotWhole (X 0)))]
  [(Gamma (X 0) (Lit 0))].
(* unproved: the proofs have no theory of the gamma function *)

Definition digamma_rule : rule := Rule "digamma" 1
  (Gamma (X 0) (Lit 0))
  [(Or (Positive (X 0)) (NotWhole (X 0)))]
  [(Gamma (X 0) (Lit 1))].
(* unproved: the proofs have no theory of the gamma function *)

Definition polygamma_rule : rule := Rule "polygamma" 1
  (Gamma (X 0) (Par 0))
  [(Or (Positive (X 0)) (NotWhole (X 0)))]
  [(Gamma (X 0) (IAdd (Par 0) (Lit 1)))].
(* unproved: the proofs have no theory of the gamma function *)

Definition select_rule : rule := Rule "select" 2
  (IfFlag 0 (X 0) (X 1))
  []
  [(IfFlag 0 (Q 1 1) (Q 0 1)); (IfFlag 0 (Q 0 1) (Q 1 1))].
Lemma select_ok : rule_ok select_rule. Proof. rule_tac. Qed.

Definition to_f16_rule : rule := Rule "to_f16" 1
  (X 0)
  []
  [(Q 1 1)].
Lemma to_f16_ok : rule_ok to_f16_rule. Proof. rule_tac. Qed.

Definition to_bf16_rule : rule := Rule "to_bf16" 1
  (X 0)
  []
  [(Q 1 1)].
Lemma to_bf16_ok : rule_ok to_bf16_rule. Proof. rule_tac. Qed.

Definition to_f32_rule : rule := Rule "to_f32" 1
  (X 0)
  []
  [(Q 1 1)].
Lemma to_f32_ok : rule_ok to_f32_rule. Proof. rule_tac. Qed.

Definition to_f64_rule : rule := Rule "to_f64" 1
  (X 0)
  []
  [(Q 1 1)].
Lemma to_f64_ok : rule_ok to_f64_rule. Proof. rule_tac. Qed.

(** All rules, and those that are proved. *)
Definition rules : list rule := [add_rule; sub_rule; mul_rule; mulz_rule; mulg_rule; mulc_rule; div_rule; neg_rule; fma_rule; sqrt_rule; rsqrt_rule; cbrt_rule; recip_rule; square_rule; powi_rule; pow_rule; power_below_rule; abs_rule; sign_rule; floor_rule; ceil_rule; trunc_rule; round_rule; copysign_rule; stop_gradient_rule; after_rule; with_derivative_of_rule; rem_rule; hypot_rule; max_rule; min_rule; wins_rule; share_rule; clamp_rule; relu_rule; exp_rule; exp2_rule; expm1_rule; log_rule; log2_rule; log10_rule; log1p_rule; sin_rule; cos_rule; tan_rule; asin_rule; acos_rule; atan_rule; atan2_rule; sinh_rule; cosh_rule; tanh_rule; sech2_rule; asinh_rule; acosh_rule; atanh_rule; sigmoid_rule; erf_rule; erfc_rule; lgamma_rule; digamma_rule; polygamma_rule; select_rule; to_f16_rule; to_bf16_rule; to_f32_rule; to_f64_rule].
Definition proved_rules : list rule := [add_rule; sub_rule; mul_rule; mulz_rule; mulg_rule; mulc_rule; div_rule; neg_rule; fma_rule; sqrt_rule; rsqrt_rule; cbrt_rule; recip_rule; square_rule; powi_rule; pow_rule; power_below_rule; abs_rule; sign_rule; floor_rule; ceil_rule; trunc_rule; round_rule; copysign_rule; after_rule; rem_rule; hypot_rule; max_rule; min_rule; wins_rule; share_rule; clamp_rule; relu_rule; exp_rule; exp2_rule; expm1_rule; log_rule; log2_rule; log10_rule; log1p_rule; sin_rule; cos_rule; tan_rule; asin_rule; acos_rule; atan_rule; atan2_rule; sinh_rule; cosh_rule; tanh_rule; sech2_rule; asinh_rule; acosh_rule; atanh_rule; sigmoid_rule; erf_rule; erfc_rule; select_rule; to_f16_rule; to_bf16_rule; to_f32_rule; to_f64_rule].

Theorem proved_rules_ok : Forall rule_ok proved_rules.
Proof.
  apply Forall_cons; [exact add_ok|].
  apply Forall_cons; [exact sub_ok|].
  apply Forall_cons; [exact mul_ok|].
  apply Forall_cons; [exact mulz_ok|].
  apply Forall_cons; [exact mulg_ok|].
  apply Forall_cons; [exact mulc_ok|].
  apply Forall_cons; [exact div_ok|].
  apply Forall_cons; [exact neg_ok|].
  apply Forall_cons; [exact fma_ok|].
  apply Forall_cons; [exact sqrt_ok|].
  apply Forall_cons; [exact rsqrt_ok|].
  apply Forall_cons; [exact cbrt_ok|].
  apply Forall_cons; [exact recip_ok|].
  apply Forall_cons; [exact square_ok|].
  apply Forall_cons; [exact powi_ok|].
  apply Forall_cons; [exact pow_ok|].
  apply Forall_cons; [exact power_below_ok|].
  apply Forall_cons; [exact abs_ok|].
  apply Forall_cons; [exact sign_ok|].
  apply Forall_cons; [exact floor_ok|].
  apply Forall_cons; [exact ceil_ok|].
  apply Forall_cons; [exact trunc_ok|].
  apply Forall_cons; [exact round_ok|].
  apply Forall_cons; [exact copysign_ok|].
  apply Forall_cons; [exact after_ok|].
  apply Forall_cons; [exact rem_ok|].
  apply Forall_cons; [exact hypot_ok|].
  apply Forall_cons; [exact max_ok|].
  apply Forall_cons; [exact min_ok|].
  apply Forall_cons; [exact wins_ok|].
  apply Forall_cons; [exact share_ok|].
  apply Forall_cons; [exact clamp_ok|].
  apply Forall_cons; [exact relu_ok|].
  apply Forall_cons; [exact exp_ok|].
  apply Forall_cons; [exact exp2_ok|].
  apply Forall_cons; [exact expm1_ok|].
  apply Forall_cons; [exact log_ok|].
  apply Forall_cons; [exact log2_ok|].
  apply Forall_cons; [exact log10_ok|].
  apply Forall_cons; [exact log1p_ok|].
  apply Forall_cons; [exact sin_ok|].
  apply Forall_cons; [exact cos_ok|].
  apply Forall_cons; [exact tan_ok|].
  apply Forall_cons; [exact asin_ok|].
  apply Forall_cons; [exact acos_ok|].
  apply Forall_cons; [exact atan_ok|].
  apply Forall_cons; [exact atan2_ok|].
  apply Forall_cons; [exact sinh_ok|].
  apply Forall_cons; [exact cosh_ok|].
  apply Forall_cons; [exact tanh_ok|].
  apply Forall_cons; [exact sech2_ok|].
  apply Forall_cons; [exact asinh_ok|].
  apply Forall_cons; [exact acosh_ok|].
  apply Forall_cons; [exact atanh_ok|].
  apply Forall_cons; [exact sigmoid_ok|].
  apply Forall_cons; [exact erf_ok|].
  apply Forall_cons; [exact erfc_ok|].
  apply Forall_cons; [exact select_ok|].
  apply Forall_cons; [exact to_f16_ok|].
  apply Forall_cons; [exact to_bf16_ok|].
  apply Forall_cons; [exact to_f32_ok|].
  apply Forall_cons; [exact to_f64_ok|].
  apply Forall_nil.
Qed.
