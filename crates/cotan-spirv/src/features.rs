//! What a device offers, as plain data: the emitter asks it what it may write, and nothing of a driver.

/// The optional parts of Vulkan that kernels make use of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Arithmetic on `f64`.
    pub float64: bool,
    /// Arithmetic on integers of 64 bits.
    pub int64: bool,
    /// Arithmetic on integers of 16 bits.
    pub int16: bool,
    /// Arithmetic on integers of 8 bits.
    pub int8: bool,
    /// Elements of 8 bits in memory.
    pub storage8: bool,
    /// Elements of 16 bits in memory.
    pub storage16: bool,
    /// Memory that kernels reach by its address.
    pub addresses: bool,
    /// Integers of 64 bits in memory that threads change together.
    pub atomics64: bool,
    /// What a kernel may demand of its arithmetic on `f32`.
    pub controls32: FloatControls,
    /// What a kernel may demand of its arithmetic on `f64`.
    pub controls64: FloatControls,
}

/// What a kernel may demand of the arithmetic on one float type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// Signs of zeros, infinities and NaN are kept.
    pub preserves_special: bool,
    /// Results are rounded to nearest, ties to even.
    pub rounds_to_even: bool,
    /// Subnormal numbers are kept.
    pub keeps_subnormals: bool,
}

impl Features {
    /// Each part, with its name in Vulkan.
    fn parts(self) -> [(bool, &'static str); 14] {
        let [a, b] = [self.controls32, self.controls64];
        [
            (self.float64, "shaderFloat64"),
            (self.int64, "shaderInt64"),
            (self.int16, "shaderInt16"),
            (self.int8, "shaderInt8"),
            (self.storage8, "storageBuffer8BitAccess"),
            (self.storage16, "storageBuffer16BitAccess"),
            (self.addresses, "bufferDeviceAddress"),
            (self.atomics64, "shaderBufferInt64Atomics"),
            (a.preserves_special, "shaderSignedZeroInfNanPreserveFloat32"),
            (b.preserves_special, "shaderSignedZeroInfNanPreserveFloat64"),
            (a.rounds_to_even, "shaderRoundingModeRTEFloat32"),
            (b.rounds_to_even, "shaderRoundingModeRTEFloat64"),
            (a.keeps_subnormals, "shaderDenormPreserveFloat32"),
            (b.keeps_subnormals, "shaderDenormPreserveFloat64"),
        ]
    }

    /// What there is of it, as Vulkan calls it.
    pub fn names(self) -> Vec<&'static str> {
        self.parts().into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
    }

    /// As bits, to be kept.
    pub(crate) fn to_bits(self) -> u32 {
        self.parts().into_iter().rev().fold(0, |bits, (has, _)| bits << 1 | u32::from(has))
    }

    /// From the bits of [`Self::to_bits`].
    pub(crate) fn of_bits(bits: u32) -> Features {
        let has = |k: u32| bits >> k & 1 == 1;
        let controls = |k: u32| FloatControls {
            preserves_special: has(8 + k),
            rounds_to_even: has(10 + k),
            keeps_subnormals: has(12 + k),
        };
        Features {
            float64: has(0),
            int64: has(1),
            int16: has(2),
            int8: has(3),
            storage8: has(4),
            storage16: has(5),
            addresses: has(6),
            atomics64: has(7),
            controls32: controls(0),
            controls64: controls(1),
        }
    }

    /// Something of this that a device with other features lacks, as Vulkan calls it.
    pub(crate) fn lacking(self, offered: Features) -> Option<&'static str> {
        let mut pairs = self.parts().into_iter().zip(offered.parts());
        pairs.find_map(|((needed, name), (has, _))| (needed && !has).then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_has_its_name() {
        let needs = Features { float64: true, int64: true, ..Features::default() };
        assert_eq!(needs.lacking(needs), None);
        assert_eq!(needs.lacking(Features { float64: false, ..needs }), Some("shaderFloat64"));
        assert_eq!(Features::default().lacking(Features::default()), None);
        assert_eq!(needs.names(), ["shaderFloat64", "shaderInt64"]);
    }

    #[test]
    fn bits_stand_for_features() {
        for bits in (0..14).map(|k| 1 << k).chain([0, 0x3fff, 0x1555]) {
            let features = Features::of_bits(bits);
            assert_eq!((features.to_bits(), features.names().len()), (bits, bits.count_ones() as usize));
        }
    }
}
