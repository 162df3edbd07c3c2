(** * Branches: reversing a switch, and a loop whose body branches.

    The forward run records the number of the arm it took; the reverse takes the
    recorded arm and never evaluates the test again. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Loops.
Import ListNotations.

(** ** One switch *)

Section Switch.
Variables (S X T W : Type).
Variable pair : T -> W -> S.
Variable arm : nat -> X -> X.
Variable jarm : nat -> X -> T -> T.
Variable barm : nat -> X -> W -> W.
Hypothesis arm_adj : forall a x t w, pair (jarm a x t) w = pair t (barm a x w).
Variable choose : X -> nat.

Definition switch (x : X) : X := arm (choose x) x.
Definition jswitch (x : X) (t : T) : T := jarm (choose x) x t.
(** The forward run returns the value and the record. *)
Definition switch_record (x : X) : X * (X * nat) := (switch x, (x, choose x)).
(** The reverse reads only the record. *)
Definition switch_reverse (r : X * nat) (w : W) : W := barm (snd r) (fst r) w.

(** The reverse along the recorded arm is the adjoint of the switch at [x]. *)
Theorem switch_adjoint x t w :
  fst (switch_record x) = switch x /\
  pair (jswitch x t) w = pair t (switch_reverse (snd (switch_record x)) w).
Proof. split; [reflexivity | apply arm_adj]. Qed.
End Switch.

(** ** A loop whose body is a switch; arms and test may depend on the trip *)

Section BranchLoop.
Variables (S X T W : Type).
Variable pair : T -> W -> S.
Variable arm : nat -> nat -> X -> X.           (* trip, arm *)
Variable jarm : nat -> nat -> X -> T -> T.
Variable barm : nat -> nat -> X -> W -> W.
Hypothesis arm_adj : forall k a x t w, pair (jarm k a x t) w = pair t (barm k a x w).
Variable choose : nat -> X -> nat.

Definition body (k : nat) : X -> X := switch X (arm k) (choose k).
Definition jbody (k : nat) : X -> T -> T := jswitch X T (jarm k) (choose k).
Definition bbody (k : nat) (x : X) (w : W) : W :=
  switch_reverse X W (barm k) (snd (switch_record X (arm k) (choose k) x)) w.

Lemma body_adj k x t w : pair (jbody k x t) w = pair t (bbody k x w).
Proof. apply (switch_adjoint S X T W pair (arm k)), arm_adj. Qed.

Definition records := list (nat * (X * nat)).

Fixpoint save_arms (k n : nat) (x : X) (st : records) : X * records :=
  match n with
  | O => (x, st)
  | Datatypes.S n' =>
      let r := switch_record X (arm k) (choose k) x in
      save_arms (Datatypes.S k) n' (fst r) ((k, snd r) :: st)
  end.

(** The test is no argument of the reverse. *)
Definition unwind_arms (st : records) (w : W) : W :=
  fold_left (fun w e => switch_reverse X W (barm (fst e)) (snd e) w) st w.

(** The record of a saved state. *)
Definition rec_of (kx : nat * X) : nat * (X * nat) :=
  (fst kx, (snd kx, choose (fst kx) (snd kx))).

(** The stack of records is the stack of states of [Loops], each with its arm. *)
Lemma save_arms_spec n : forall k x st,
  save_arms k n x (map rec_of st) =
  (fst (save X body k n x st), map rec_of (snd (save X body k n x st))).
Proof.
  induction n as [|n IH]; intros k x st; simpl; auto.
  exact (IH (Datatypes.S k) (body k x) ((k, x) :: st)).
Qed.

Lemma unwind_arms_spec st : forall w, unwind_arms (map rec_of st) w = unwind X W bbody st w.
Proof. induction st as [|[k x] st IH]; intros w; simpl; auto. Qed.

(** Recording and popping is the unrolled reverse of the branching loop. *)
Theorem branching_loop_correct k n x w :
  fst (save_arms k n x []) = iter X body k n x /\
  unwind_arms (snd (save_arms k n x [])) w = unrolled X W body bbody k n x w.
Proof.
  change (@nil (nat * (X * nat))) with (map rec_of []). rewrite save_arms_spec. simpl fst. simpl snd.
  rewrite unwind_arms_spec. apply stack_correct.
Qed.

(** Popping the recorded arms is the adjoint of the pushforward of the loop. *)
Theorem branching_loop_adjoint k n x t w :
  pair (jiter X T body jbody k n x t) w =
  pair t (unwind_arms (snd (save_arms k n x [])) w).
Proof.
  destruct (branching_loop_correct k n x w) as [_ ->].
  apply unrolled_adjoint. apply body_adj.
Qed.

(** The same for a while loop: the trip count and the arms are known only at run
    time, and the fuel is no part of the result. *)
Theorem branching_while_adjoint guard fuel k x y st :
  run_while X body guard fuel k x [] = Some (y, st) ->
  exists n, while X body guard k x n /\ save_arms k n x [] = (y, map rec_of st) /\
    forall t w, pair (jiter X T body jbody k n x t) w = pair t (unwind_arms (map rec_of st) w).
Proof.
  intros H. destruct (while_correct X body guard _ _ _ _ _ _ H) as [n [Hw Hs]].
  assert (E : save_arms k n x [] = (y, map rec_of st)).
  { change (@nil (nat * (X * nat))) with (map rec_of []). now rewrite save_arms_spec, Hs. }
  exists n. repeat split; auto. intros t w. rewrite branching_loop_adjoint, E. reflexivity.
Qed.

End BranchLoop.
