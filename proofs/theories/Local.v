(** * Local: each cotangent is its seed plus what later nodes send.

    These equations have exactly one solution. So whatever satisfies them computes back-propagation: a reverse
    in another order, or generated gradient code. *)

From Coq Require Import List Arith Lia.
From Cotan Require Import Tape.
Import ListNotations.

Section Local.

Variables (S X T W : Type).
Variables (s0 : S) (sadd : S -> S -> S).
Hypothesis sadd_0_l : forall a, sadd s0 a = a.
Hypothesis sadd_comm : forall a b, sadd a b = sadd b a.
Hypothesis sadd_assoc : forall a b c, sadd a (sadd b c) = sadd (sadd a b) c.
Variables (w0 : W) (wadd : W -> W -> W).
Variable dot : nat -> T -> W -> S.
Hypothesis dot_add_r : forall i t a b, dot i t (wadd a b) = sadd (dot i t a) (dot i t b).
Variable t0 : T.

Notation node := (Tape.node X T W).
Notation graph := (Tape.graph X T W).
Notation contribs := (Tape.contribs W).
Notation eval := (Tape.eval X T W).
Notation push := (Tape.push X T W).
Notation back := (Tape.back X T W w0 wadd).
Notation upd := (Tape.upd W wadd).
Notation scatter := (Tape.scatter W wadd).
Notation earlier := (Tape.earlier W).
Notation graph_ok := (Tape.graph_ok S X T W s0 sadd dot t0).
Notation node_ok := (Tape.node_ok S X T W s0 sadd dot t0).
Notation pairing := (Tape.pairing S T W s0 sadd dot).
Notation fwd := (@Tape.fwd X T W).
Notation vjp := (@Tape.vjp X T W).

Notation upd_nth_other := (Tape.upd_nth_other W w0 wadd).
Notation scatter_length := (Tape.scatter_length W wadd).
Notation back_length := (Tape.back_length X T W w0 wadd).
Notation eval_length := (Tape.eval_length X T W).
Notation back_adjoint := (Tape.back_adjoint S X T W s0 sadd sadd_0_l sadd_comm sadd_assoc w0 wadd dot dot_add_r t0).
Notation upd_length := (Tape.upd_length W wadd).
Notation upd_nth_same := (Tape.upd_nth_same W w0 wadd).
Notation scatter_nth_later := (Tape.scatter_nth_later W w0 wadd).

Hypothesis wadd_assoc : forall a b c, wadd a (wadd b c) = wadd (wadd a b) c.
Hypothesis wadd_0_r : forall a, wadd a w0 = a.

(** What contributions send to [i]. *)
Fixpoint into (i : nat) (cs : contribs) : W :=
  match cs with
  | [] => w0
  | (p, c) :: cs' => if p =? i then wadd c (into i cs') else into i cs'
  end.

(** What the nodes of a graph send to [i], of which the cotangents are [G]. *)
Fixpoint recv (i : nat) (xs : list X) (g : graph) (G : list W) : W :=
  match g with
  | [] => w0
  | nd :: g' => wadd (recv i (xs ++ [fwd nd xs]) g' G) (into i (vjp nd xs (nth (length xs) G w0)))
  end.

Lemma nth_scatter i cs gs : i < length gs ->
  nth i (scatter cs gs) w0 = wadd (nth i gs w0) (into i cs).
Proof.
  revert gs; induction cs as [|[p c] cs IH]; intros gs Hi; simpl; auto.
  rewrite IH by now rewrite upd_length. destruct (Nat.eqb_spec p i) as [->|Hp].
  - rewrite upd_nth_same by auto. now rewrite wadd_assoc.
  - now rewrite upd_nth_other.
Qed.

Lemma into_later i n cs : earlier n cs -> n <= i -> into i cs = w0.
Proof.
  intros H Hi; induction H as [|[p c] cs Hp H IH]; simpl; auto.
  simpl in Hp. destruct (Nat.eqb_spec p i); [lia|auto].
Qed.

Lemma recv_ext g : forall i xs G G', graph_ok xs g ->
  (forall j, length xs <= j < length xs + length g -> i < j -> nth j G w0 = nth j G' w0) ->
  recv i xs g G = recv i xs g G'.
Proof.
  induction g as [|nd g IH]; intros i xs G G' Hok H; simpl in *; auto.
  destruct Hok as [[Hear _] Hok]. f_equal.
  - apply IH; auto. intros j Hj. apply H. rewrite app_length in Hj; simpl in Hj. lia.
  - destruct (Nat.lt_ge_cases i (length xs)) as [Hi|Hi].
    + now rewrite (H (length xs)) by lia.
    + rewrite !(into_later i (length xs)); auto.
Qed.

(** Back-propagation satisfies the local equations. *)
Theorem back_local g : forall xs seed i,
  graph_ok xs g -> length seed = length xs + length g -> i < length seed ->
  nth i (back xs g seed) w0 = wadd (nth i seed w0) (recv i xs g (back xs g seed)).
Proof.
  induction g as [|nd g IH]; intros xs seed i Hok Hs Hi; simpl in *; [now rewrite wadd_0_r|].
  destruct Hok as [[Hear Hadj] Hok].
  set (xs' := xs ++ [fwd nd xs]) in *. set (gs := back xs' g seed).
  assert (Hl : length xs' = Datatypes.S (length xs)) by (unfold xs'; rewrite app_length; simpl; lia).
  assert (Hgs : length gs = length seed) by apply back_length.
  rewrite nth_scatter by lia.
  rewrite (scatter_nth_later (length xs)) by auto.
  unfold gs at 1. rewrite (IH xs' seed i Hok); [|lia|lia]. fold gs.
  rewrite <- wadd_assoc. f_equal. f_equal.
  apply recv_ext; auto. intros j Hj _.
  symmetry. apply (scatter_nth_later (length xs)); auto. lia.
Qed.

(** Whatever satisfies the local equations is back-propagation. *)
Theorem local_unique g xs seed G :
  graph_ok xs g -> length seed = length xs + length g ->
  (forall i, i < length seed -> nth i G w0 = wadd (nth i seed w0) (recv i xs g G)) ->
  forall i, i < length seed -> nth i G w0 = nth i (back xs g seed) w0.
Proof.
  intros Hok Hs HG i Hi.
  remember (length seed - i) as d eqn:Hd. revert i Hi Hd.
  induction d as [d IH] using lt_wf_ind. intros i Hi Hd.
  rewrite HG, back_local by auto. f_equal. apply recv_ext; auto.
  intros j Hj Hij. apply (IH (length seed - j)); lia.
Qed.

End Local.
