(** * Rule: what a scalar rule of the op table says, as data, and when it is right.

    A rule holds the primitive as a term over the reals, the domain, and one
    partial derivative for each operand that is a real number.  Other operands (a
    whole exponent, the condition of a choice) are integers that cannot move; every
    statement holds for all of them. *)

From Coq Require Export ZArith Reals String List.
From Coq Require Import Lra.
From Coquelicot Require Import Coquelicot.
From Coq Require Export List.   (* once more: Coquelicot has its own [nth] *)
From Cotan Require Export Functions.
Import ListNotations.
Open Scope R_scope.

(** Whole numbers: those among the operands, and what is computed of them. *)
Inductive whole : Set :=
| Par (k : nat)                       (* the k-th operand that is no real number *)
| Lit (z : Z)
| IAdd (a b : whole) | ISub (a b : whole).

(** Comparisons. *)
Inductive rel : Set := Less | AtMost | Same.

Inductive tm : Set :=
| X (i : nat)                         (* the i-th operand that is a real number *)
| Y                                   (* the result; in partials only *)
| Q (n : Z) (d : positive)            (* the number n/d *)
| Named (n : Z) (d : positive) (t : tm)  (* the number t, which programs round to n/d *)
| Undefined                           (* a result that is no number *)
| OfWhole (n : whole)
| Fn (f : fn) (a : tm)
| Neg (a : tm)
| Add (a b : tm) | Sub (a b : tm) | Mul (a b : tm) | Div (a b : tm)
| PowZ (a : tm) (n : whole)           (* whole power *)
| Pow (a b : tm)                      (* real power of a positive number *)
| Gamma (a : tm) (n : whole)          (* polygamma of order n; -1: log gamma.  No theory *)
| If (r : rel) (a b : tm) (t e : tm)  (* t where a is related to b, else e *)
| IfFlag (k : nat) (t e : tm).        (* t where the k-th operand that is no real number is not 0 *)

Inductive cond : Set :=
| Positive (a : tm)
| Nonzero (a : tm)
| NotWhole (a : tm)
| Or (p q : cond).

Record rule := Rule {
  r_name : string;
  r_reals : nat;                      (* number of operands that are real numbers *)
  r_prim : tm;                        (* what the primitive is *)
  r_dom : list cond;                  (* where the partials are derivatives *)
  r_part : list tm                    (* one for each real operand *)
}.

(** ** Meaning *)

Fixpoint den_whole (ps : list Z) (n : whole) : Z :=
  match n with
  | Par k => nth k ps 0%Z
  | Lit z => z
  | IAdd a b => (den_whole ps a + den_whole ps b)%Z
  | ISub a b => (den_whole ps a - den_whole ps b)%Z
  end.

Definition den_q (n : Z) (d : positive) : R :=
  match d with xH => IZR n | _ => IZR n / IZR (Zpos d) end.

Definition choose {A : Type} (r : rel) (a b : R) (t e : A) : A :=
  match r with
  | Less => if Rlt_dec a b then t else e
  | AtMost => if Rle_dec a b then t else e
  | Same => if Req_EM_T a b then t else e
  end.

Definition flagged {A : Type} (ps : list Z) (k : nat) (t e : A) : A :=
  if Z.eqb (nth k ps 0%Z) 0 then e else t.

Section Meaning.
Variable ud : R.                      (* what [Undefined] happens to be *)
Variable ps : list Z.                 (* the operands that are no real numbers *)

Fixpoint den (xs : list R) (y : R) (t : tm) : R :=
  match t with
  | X i => nth i xs 0
  | Y => y
  | Q n d => den_q n d
  | Named _ _ t => den xs y t
  | Undefined => ud
  | OfWhole n => IZR (den_whole ps n)
  | Fn f a => den_fn f (den xs y a)
  | Neg a => - den xs y a
  | Add a b => den xs y a + den xs y b
  | Sub a b => den xs y a - den xs y b
  | Mul a b => den xs y a * den xs y b
  | Div a b => den xs y a / den xs y b
  | PowZ a n => powerRZ (den xs y a) (den_whole ps n)
  | Pow a b => Rpower (den xs y a) (den xs y b)
  | Gamma _ _ => ud
  | If r a b t e => choose r (den xs y a) (den xs y b) (den xs y t) (den xs y e)
  | IfFlag k t e => flagged ps k (den xs y t) (den xs y e)
  end.

Fixpoint holds (xs : list R) (y : R) (c : cond) : Prop :=
  match c with
  | Positive a => 0 < den xs y a
  | Nonzero a => den xs y a <> 0
  | NotWhole a => forall n : Z, den xs y a <> IZR n
  | Or p q => holds xs y p \/ holds xs y q
  end.

Definition val (r : rule) (xs : list R) : R := den xs 0 (r_prim r).
Definition partials (r : rule) (xs : list R) : list R := map (den xs (val r xs)) (r_part r).
Definition in_dom (r : rule) (xs : list R) : Prop := Forall (holds xs (val r xs)) (r_dom r).
End Meaning.

Fixpoint lin (ds dus : list R) : R :=
  match ds, dus with
  | d :: ds', du :: dus' => d * du + lin ds' dus'
  | _, _ => 0
  end.

(** ** What a rule claims

    Stated along curves: whatever differentiable functions of a parameter are fed
    in, the result is differentiable, and its derivative is the linear form of the
    partials.  This is the chain rule in the shape that a tape needs, for any number
    of operands; along straight lines it gives each partial derivative. *)

Definition curves (us : list (R -> R)) (t : R) (dus : list R) : Prop :=
  Forall2 (fun u du => is_derive u t du) us dus.
Definition at_ (us : list (R -> R)) (t : R) : list R := map (fun u => u t) us.

Definition rule_ok (r : rule) : Prop :=
  length (r_part r) = r_reals r /\
  forall ud ps us t dus, length us = r_reals r -> curves us t dus -> in_dom ud ps r (at_ us t) ->
    is_derive (fun s => val ud ps r (at_ us s)) t (lin (partials ud ps r (at_ us t)) dus).
