(** * Branches: the reverse of the arm that was taken.

    A switch has arms; the forward run records the number of the one it takes, and the
    reverse run takes the same one.  A loop whose body branches records a state and a
    number for each trip. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Loops.
Import ListNotations.

Section Branches.
Variables (S X T W : Type).
Variable pair : T -> W -> S.

Variable arm : nat -> X -> X.
Variable push : nat -> X -> T -> T.
Variable pull : nat -> X -> W -> W.
Hypothesis arms_adjoint : forall n x t w, pair (push n x t) w = pair t (pull n x w).

Variable choose : X -> nat.           (* which arm is taken *)

(** The switch, its pushforward, and its reverse from what was recorded. *)
Definition switch (x : X) : X * nat := (arm (choose x) x, choose x).
Definition switch_push (x : X) (t : T) : T := push (choose x) x t.
Definition switch_pull (recorded : nat) (x : X) (w : W) : W := pull recorded x w.

(** Reversing the recorded arm is the adjoint of the pushforward of the switch. *)
Theorem switch_adjoint x t w :
  pair (switch_push x t) w = pair t (switch_pull (snd (switch x)) x w).
Proof. apply arms_adjoint. Qed.

(** ** A loop whose body branches *)

Variable taken : nat -> X -> nat.      (* which arm a trip takes: its number may count, too *)
Definition body (k : nat) (x : X) : X := arm (taken k x) x.

Fixpoint record (k n : nat) (x : X) (log : list (nat * X)) : X * list (nat * X) :=
  match n with
  | O => (x, log)
  | Datatypes.S n' => record (Datatypes.S k) n' (body k x) ((taken k x, x) :: log)
  end.

Definition sweep (log : list (nat * X)) (w : W) : W :=
  fold_left (fun w e => pull (fst e) (snd e) w) log w.

Notation body_pull := (fun k x w => pull (taken k x) x w).
Notation body_push := (fun k x t => push (taken k x) x t).

Lemma record_spec n : forall k x log w,
  fst (record k n x log) = iter X body k n x /\
  sweep (snd (record k n x log)) w = sweep log (unrolled X W body body_pull k n x w).
Proof.
  induction n as [|n IH]; intros k x log w; simpl; auto.
  destruct (IH (Datatypes.S k) (body k x) ((taken k x, x) :: log) w) as [H1 H2]. split; auto.
Qed.

(** Popping recorded arms and states reverses the loop, whatever arms it took. *)
Theorem branching_loop_adjoint k n x t w :
  pair (jiter X T body body_push k n x t) w = pair t (sweep (snd (record k n x [])) w).
Proof.
  destruct (record_spec n k x [] w) as [_ ->]. simpl.
  apply (unrolled_adjoint S X T W pair body body_push body_pull).
  intros. apply arms_adjoint.
Qed.
End Branches.
