//! Awkward operands: zeros, subnormal numbers, neighbours of powers of two, huge numbers, infinities, NaN; sums that cancel,
//! products that leave the range; least and greatest integers; and random bits.

use cotan_ir::Elem;

/// Words of a tuple: no instruction has more operands.
pub const N_OPERANDS: usize = 3;

/// A generator of numbers (splitmix64), the same in every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for every seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// So many tuples of words for the instructions of a type: an array for each operand. The second one of integers is now
/// and then a distance.
pub fn awkward(elem: Elem, n_tuples: usize) -> Vec<Vec<u64>> {
    let mut random = Random::new(elem.bytes() as u64 + u64::from(elem.is_float()) * 16);
    let mut arrays = vec![Vec::new(); N_OPERANDS];
    for k in 0..n_tuples {
        let tuple = match elem {
            Elem::F64 => floats(&DOUBLE, &mut random, k as u64),
            Elem::F32 => floats(&SINGLE, &mut random, k as u64),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F16
            | Elem::BF16 => integers(8 * elem.bytes() as u32, &mut random, k as u64),
        };
        for (array, word) in arrays.iter_mut().zip(tuple) {
            array.push(word);
        }
    }
    arrays
}

/// A float format, for making numbers by their bits.
struct Format {
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
    bias: i64,
    of: fn(f64) -> u64,
    /// A product rounded, and then negated.
    cancels: fn(u64, u64) -> u64,
}

const DOUBLE: Format = Format {
    fraction: 52,
    exponent: 11,
    bias: 1023,
    of: f64::to_bits,
    cancels: |a, b| (-(f64::from_bits(a) * f64::from_bits(b))).to_bits(),
};

const SINGLE: Format = Format {
    fraction: 23,
    exponent: 8,
    bias: 127,
    of: |x| u64::from((x as f32).to_bits()),
    cancels: |a, b| u64::from((-(f32::from_bits(a as u32) * f32::from_bits(b as u32))).to_bits()),
};

/// Numbers at which something changes.
const MARKS: [f64; 12] =
    [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 10.0, 1.0 / 3.0, std::f64::consts::PI, 1e300, f64::INFINITY, f64::NAN];

impl Format {
    fn sign(&self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    fn infinity(&self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// A number with this exponent field and a random or an almost round fraction.
    fn number(&self, random: &mut Random, field: i64) -> u64 {
        let field = field.clamp(0, (1 << self.exponent) - 2) as u64;
        let all = (1 << self.fraction) - 1;
        let bits = random.bits();
        let fraction = match bits >> 60 {
            0..4 => bits & all,
            4..8 => bits & all & !((1 << (self.fraction / 2)) - 1),
            8..10 => bits % 3,
            10..12 => all - bits % 3,
            12..14 => 1 << ((bits >> 8) % u64::from(self.fraction)),
            _ => (1 << (self.fraction - 1)) + bits % 3 - 1,
        };
        ((bits >> 59 & 1) * self.sign()) | (field << self.fraction) | fraction
    }

    /// One of the marks, or a number next to it.
    fn mark(&self, random: &mut Random, k: u64) -> u64 {
        let n_marks = MARKS.len() as u64 + 4;
        let bits = match k % n_marks {
            12 => 1 << self.fraction,
            13 => (1 << self.fraction) - 1,
            14 => self.infinity() - 1,
            // Subnormal, of few bits: the least one, and what is half of half a fraction.
            15 if k.is_multiple_of(2) => 1,
            15 => 1 << (self.fraction / 2),
            other => (self.of)(MARKS[other as usize]),
        };
        let step = if bits == 0 || bits >= self.infinity() { 0 } else { random.below(3).wrapping_sub(1) };
        let sign = if random.below(2) == 0 { self.sign() } else { 0 };
        bits.wrapping_add(step) ^ sign
    }

    /// A number next to a whole one, halves and limits of integers among them.
    fn limit(&self, random: &mut Random) -> u64 {
        let field = self.bias - 3 + random.below(70) as i64;
        let number = self.number(random, field);
        let near = number & !((1 << self.fraction) - 1);
        if random.below(2) == 0 { number } else { near.wrapping_add(random.below(5)).wrapping_sub(2) }
    }
}

/// A tuple of floats.
fn floats(format: &Format, random: &mut Random, k: u64) -> [u64; N_OPERANDS] {
    let middle = format.bias;
    let n_fields = 2 * format.bias as u64;
    let any = |random: &mut Random| random.below(n_fields) as i64;
    let near = |random: &mut Random| middle - 4 + random.below(9) as i64;
    let fraction = i64::from(format.fraction);
    match k % 8 {
        0 => [format.mark(random, k / 8), format.mark(random, k / 128), format.mark(random, k / 8 % 11)],
        1 => [format.limit(random), format.limit(random), format.limit(random)],
        2 => {
            let fields = [any(random), any(random), any(random)];
            fields.map(|field| format.number(random, field))
        }
        // A sum of numbers of like size, and one that cancels the product but for its last bits.
        3 | 4 => {
            let fields = [near(random), near(random)];
            let [a, b] = fields.map(|field| format.number(random, field));
            let c = (format.cancels)(a, b).wrapping_add(random.below(3)).wrapping_sub(1);
            if k % 8 == 3 { [a, b, c] } else { [a, c ^ format.sign(), b] }
        }
        // A product that is subnormal, or next to it, or too large, with an addend in reach.
        5 | 6 => {
            let a = any(random);
            let target = if k % 8 == 5 { -2 * fraction } else { 2 * middle - fraction };
            let b = target + middle - a + random.below(4 * fraction as u64) as i64;
            let c = target + random.below(4 * fraction as u64) as i64;
            [a, b, c].map(|field| format.number(random, field))
        }
        _ => [random.bits(), random.bits(), random.bits()],
    }
}

/// A tuple of integers.
fn integers(width: u32, random: &mut Random, k: u64) -> [u64; N_OPERANDS] {
    let mut one = |k: u64| match k % 5 {
        0 => random.below(7).wrapping_sub(3),
        1 => (1u64 << (random.below(u64::from(width)))).wrapping_add(random.below(3)).wrapping_sub(1),
        2 => (1u64 << (random.below(u64::from(width)))).wrapping_neg().wrapping_add(random.below(3)).wrapping_sub(1),
        3 => random.bits() >> random.below(64),
        _ => random.bits(),
    };
    let [a, b, c] = [one(k), one(k / 5), one(k / 25)];
    if k.is_multiple_of(4) { [a, random.below(140).wrapping_sub(10), c] } else { [a, b, c] }
}
