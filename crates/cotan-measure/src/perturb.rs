//! Perturbation of operands between samples, so that nothing can be hoisted out of the timing or kept from an earlier call.

use cotan::host::Value;

/// Flat operands of a function, and what its calls gave in sum.
#[derive(Debug)]
pub struct Perturbed {
    operands: Vec<Value>,
    turn: usize,
    checksum: f64,
}

impl Perturbed {
    /// These operands, as they are.
    pub fn new(operands: Vec<Value>) -> Perturbed {
        Perturbed { operands, turn: 0, checksum: 0.0 }
    }

    /// The operands of the next call.
    pub fn operands(&self) -> &[Value] {
        &self.operands
    }

    /// Turns the last bit of one element of each float operand, or turns the last ones back. Zeros stay: beside them lie
    /// subnormal numbers, which take longer.
    pub fn turn(&mut self) {
        for operand in self.operands.iter_mut().filter(|operand| operand.elem.is_float()) {
            let n = operand.bits.len().max(1);
            let at = self.turn / 2 % n;
            let is_number = at < operand.bits.len() && operand.get(at).as_float().is_some_and(|x| x.is_normal());
            if is_number {
                operand.bits[at] ^= 1;
            }
        }
        self.turn += 1;
    }

    /// Adds one element of each float result, another one each time.
    pub fn note(&mut self, results: &[Value]) {
        for result in results.iter().filter(|result| result.elem.is_float() && !result.bits.is_empty()) {
            self.checksum += result.get(self.turn % result.bits.len()).as_float().unwrap_or(0.0);
        }
    }

    /// The sum of what was noted.
    pub fn checksum(&self) -> f64 {
        self.checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_element_of_each_float_operand_differs_in_every_other_turn() {
        let operands = vec![Value::f64s(&[3], &[1.0, 0.0, 2.0]), Value::i64s(&[1], &[7]), Value::f64s(&[0], &[])];
        let mut perturbed = Perturbed::new(operands.clone());
        let mut seen = Vec::new();
        for _ in 0..6 {
            perturbed.turn();
            seen.push(perturbed.operands()[0].floats().expect("floats"));
            assert_eq!(perturbed.operands()[1..], operands[1..]);
        }
        let (one, two) = (1.0 + f64::EPSILON, 2.0 + 2.0 * f64::EPSILON);
        let plain = vec![1.0, 0.0, 2.0];
        let expected =
            [vec![one, 0.0, 2.0], plain.clone(), plain.clone(), plain.clone(), vec![1.0, 0.0, two], plain.clone()];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_checksum_walks_over_the_results() {
        let mut perturbed = Perturbed::new(Vec::new());
        for _ in 0..3 {
            perturbed.note(&[Value::f64s(&[], &[100.0]), Value::f64s(&[2], &[1.0, 10.0])]);
            perturbed.turn();
        }
        assert_eq!(perturbed.checksum(), 312.0);
    }
}
