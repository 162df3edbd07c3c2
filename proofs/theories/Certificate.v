(** * Certificate: what the oracle reads, and what it means that it accepts.

    A certificate holds a program, the code of its gradient, and where that code has
    each cotangent.  Steps name rules of the op table that are proved; constants, and
    choices by a comparison, are steps of their own. *)

From Coq Require Import Lra.
From Coquelicot Require Import Coquelicot.
From Cotan Require Import Scalar Rule Slope Prove Grad Check Rules_gen.
Import ListNotations.
Open Scope R_scope.

(** A constant of the program: a rule without operands. *)
Definition constant (n : Z) (d : positive) : rule := Rule "constant" 0 (Q n d) [] [].

Lemma constant_ok n d : rule_ok (constant n d).
Proof. apply rule_intro; [reflexivity|]. intros. split; [exact I | reflexivity]. Qed.

(** One of two numbers, as two others are related. *)
Definition choice (r : rel) : rule :=
  Rule "choice" 4 (If r (X 0) (X 1) (X 2) (X 3)) [Nonzero (Sub (X 0) (X 1))]
    [Q 0 1; Q 0 1; If r (X 0) (X 1) (Q 1 1) (Q 0 1); If r (X 0) (X 1) (Q 0 1) (Q 1 1)].

Lemma choice_ok r : rule_ok (choice r).
Proof. unfold choice. destruct r; written_tac. Qed.

Inductive step : Set :=
| Uses (name : string) (args : list nat) (others : list Z)
| Number (n : Z) (d : positive)
| Chooses (r : rel) (args : list nat).

Definition named (name : string) : option rule := find (fun r => String.eqb (r_name r) name) proved_rules.

Definition instruction (s : step) : option rinstr :=
  match s with
  | Uses name args others => match named name with Some r => Some (RI r args others) | None => None end
  | Number n d => Some (RI (constant n d) [] [])
  | Chooses r args => Some (RI (choice r) args [])
  end.

Fixpoint program (ss : list step) : option rprog :=
  match ss with
  | [] => Some []
  | s :: ss' =>
      match instruction s, program ss' with Some i, Some p => Some (i :: p) | _, _ => None end
  end.

Definition accepted (n : nat) (ss : list step) (G : list tm) (unfold bar : list nat) (j : nat) : bool :=
  match program ss with Some p => certified n p G unfold bar j | None => false end.

(** The first value whose cotangent is not shown to be right, if the certificate is well-formed. *)
Definition first_unshown (n : nat) (ss : list step) (G : list tm) (unfold bar : list nat) (j : nat) : option nat :=
  match program ss with
  | Some p =>
      let N := (n + length p)%nat in
      let fixed := constants (repeat false n) p in
      let code := worked_out (numeral n p) N G in
      find (fun i => negb (check_at n p code unfold bar j fixed i)) (seq 0 N)
  | None => None
  end.

Lemma instruction_ok s i : instruction s = Some i -> rule_ok (ri_rule i).
Proof.
  destruct s as [name args others|n d|r args]; simpl; intros H.
  - destruct (named name) as [r|] eqn:E; [|discriminate]. injection H as <-. simpl.
    apply find_some in E as [E _]. pose proof proved_rules_ok as P. rewrite Forall_forall in P. auto.
  - injection H as <-. apply constant_ok.
  - injection H as <-. apply choice_ok.
Qed.

Lemma program_rules ss : forall p, program ss = Some p -> Forall (fun i => rule_ok (ri_rule i)) p.
Proof.
  induction ss as [|s ss IH]; intros p H; simpl in H.
  - injection H as <-. constructor.
  - destruct (instruction s) as [i|] eqn:E; [|discriminate].
    destruct (program ss) as [q|]; [|discriminate]. injection H as <-.
    constructor; [now apply (instruction_ok s) | now apply IH].
Qed.

Section Sound.
Variable ud : R.                      (* what [Undefined] happens to be *)

(** Every instruction is used on the domain of its rule, at this point. *)
Fixpoint inside (xs : list R) (p : rprog) : Prop :=
  match p with
  | [] => True
  | i :: p' =>
      let values := gather R 0 xs (ri_args i) in
      in_dom ud (ri_others i) (ri_rule i) values /\ inside (xs ++ [ival ud i values]) p'
  end.

Lemma inside_good p : Forall (fun i => rule_ok (ri_rule i)) p -> forall xs, inside xs p -> good ud xs p.
Proof.
  induction 1 as [|i p Hi Hp IH]; intros xs H; simpl in *; auto.
  destruct H as [Hd H]. auto.
Qed.

(** An accepted certificate: at every point where each step is inside the domain of its rule, the code gives the
    partial derivatives of the output, at the places of the inputs. *)
Theorem accepted_sound ss xs G unfold bar j :
  accepted (length xs) ss G unfold bar j = true ->
  exists p, program ss = Some p /\ (inside xs p ->
    let c := run_code ud (rrun ud xs p) G in
    forall i, (i < length xs)%nat ->
      is_derive (fun z => nth j (rrun ud (put i z xs) p) 0) (nth i xs 0) (nth (nth i bar O) c 0)).
Proof.
  intros H. unfold accepted in H. destruct (program ss) as [p|] eqn:E; [|discriminate].
  exists p. split; [reflexivity|]. intros Hin. apply (certified_sound ud p xs G unfold bar j H).
  apply inside_good; auto. now apply (program_rules ss).
Qed.
End Sound.
