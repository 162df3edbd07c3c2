(** * Functions: the functions of one real variable that rules are made of, and
    their derivatives.

    Some are those of the libraries; [floor] and [erf] are defined here.  Each has
    a condition [fn_ok] on its operand, under which its derivative is [fn_slope]. *)

From Coq Require Import Reals Lra Lia ZArith.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Inductive fn : Set :=
  Exp | Ln | Sqrt | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Erf | Floor.

(** The greatest whole number that is at most [x]. *)
Definition floor (x : R) : R := IZR (Int_part x).

Definition bell (t : R) : R := exp (- (t * t)).
Definition erf (x : R) : R := 2 / sqrt PI * RInt bell 0 x.

Definition den_fn (f : fn) : R -> R :=
  match f with
  | Exp => exp | Ln => ln | Sqrt => sqrt
  | Sin => sin | Cos => cos | Tan => tan | Asin => asin | Acos => acos | Atan => atan
  | Sinh => sinh | Cosh => cosh | Tanh => tanh | Erf => erf | Floor => floor
  end.

Definition fn_ok (f : fn) (x : R) : Prop :=
  match f with
  | Exp | Sin | Cos | Atan | Sinh | Cosh | Tanh | Erf => True
  | Ln | Sqrt => 0 < x
  | Tan => cos x <> 0
  | Asin | Acos => -1 < x < 1
  | Floor => forall n : Z, x <> IZR n
  end.

Definition fn_slope (f : fn) (x : R) : R :=
  match f with
  | Exp => exp x
  | Ln => / x
  | Sqrt => / (2 * sqrt x)
  | Sin => cos x
  | Cos => - sin x
  | Tan => 1 + tan x * tan x
  | Asin => / sqrt (1 - x * x)
  | Acos => - / sqrt (1 - x * x)
  | Atan => / (1 + x * x)
  | Sinh => cosh x
  | Cosh => sinh x
  | Tanh => 1 - tanh x * tanh x
  | Erf => 2 / sqrt PI * exp (- (x * x))
  | Floor => 0
  end.

(** ** One lemma for each function that the libraries leave open *)

Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. pose proof (exp_pos x). pose proof (exp_pos (- x)). lra. Qed.

Lemma tan_slope x : cos x <> 0 -> is_derive tan x (1 + tan x * tan x).
Proof. intros H. unfold tan. auto_derive; [exact H|]. field. exact H. Qed.

Lemma tanh_slope x : is_derive tanh x (1 - tanh x * tanh x).
Proof. pose proof (cosh_pos x). unfold tanh. auto_derive; [lra|]. field. lra. Qed.

Lemma asin_slope x : -1 < x < 1 -> is_derive asin x (/ sqrt (1 - x * x)).
Proof.
  intros H. apply is_derive_Reals.
  replace (/ sqrt (1 - x * x)) with (1 / sqrt (1 - x²)) by (unfold Rsqr, Rdiv; ring).
  rewrite <- (derive_pt_asin x H). apply derive_pt_eq_1 with (pr := derivable_pt_asin x H). reflexivity.
Qed.

Lemma acos_slope x : -1 < x < 1 -> is_derive acos x (- / sqrt (1 - x * x)).
Proof.
  intros H. apply is_derive_Reals.
  replace (- / sqrt (1 - x * x)) with (-1 / sqrt (1 - x²)) by (unfold Rsqr, Rdiv; ring).
  rewrite <- (derive_pt_acos x H). apply derive_pt_eq_1 with (pr := derivable_pt_acos x H). reflexivity.
Qed.

Lemma floor_slope x : (forall n : Z, x <> IZR n) -> is_derive floor x 0.
Proof.
  unfold floor. intros Hx. destruct (base_Int_part x) as [H1 H2]. specialize (Hx (Int_part x)).
  set (n := Int_part x) in *.
  apply (is_derive_ext_loc (fun _ => IZR n)); [|exact (@is_derive_const R_AbsRing R_NormedModule (IZR n) x)].
  assert (HL : locally x (fun y => IZR n < y)) by (apply (open_gt (IZR n)); lra).
  assert (HU : locally x (fun y => y < IZR n + 1)) by (apply (open_lt (IZR n + 1)); lra).
  apply filter_imp with (2 := filter_and _ _ HL HU). intros y [Hl Hu].
  f_equal. unfold Int_part. rewrite <- (tech_up y (n + 1)%Z); [lia| |]; rewrite plus_IZR; lra.
Qed.

(** A whole number and a half, rounded down. *)
Lemma floor_whole_half (z : Z) : floor (IZR z + 1 / 2) = IZR z.
Proof.
  unfold floor. f_equal. unfold Int_part. rewrite <- (tech_up _ (z + 1)%Z); [lia| |]; rewrite plus_IZR; lra.
Qed.

Lemma bell_continuous x : continuous bell x.
Proof. apply (ex_derive_continuous bell). unfold bell. auto_derive. exact I. Qed.

Lemma erf_slope x : is_derive erf x (2 / sqrt PI * exp (- (x * x))).
Proof.
  unfold erf. apply is_derive_scal.
  apply (is_derive_RInt bell (fun b => RInt bell 0 b) 0 x); [|apply bell_continuous].
  exists (mkposreal 1 Rlt_0_1). intros y _. apply (RInt_correct (V := R_CompleteNormedModule)).
  apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros z _. apply bell_continuous.
Qed.

(** ** All of them *)

Theorem fn_derive f x : fn_ok f x -> is_derive (den_fn f) x (fn_slope f x).
Proof.
  destruct f; simpl; intros H.
  - auto_derive; [exact I | ring].
  - auto_derive; [exact H | field; lra].
  - auto_derive; [exact H | field; pose proof (sqrt_lt_R0 x H); lra].
  - auto_derive; [exact I | ring].
  - auto_derive; [exact I | ring].
  - now apply tan_slope.
  - now apply asin_slope.
  - now apply acos_slope.
  - auto_derive; [exact I|]. unfold Rsqr. field. nra.
  - auto_derive; [exact I | ring].
  - auto_derive; [exact I | ring].
  - apply tanh_slope.
  - apply erf_slope.
  - now apply floor_slope.
Qed.
