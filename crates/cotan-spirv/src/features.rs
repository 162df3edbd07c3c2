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
    /// Something of this that a device with other features lacks, as Vulkan calls it.
    pub(crate) fn lacking(self, offered: Features) -> Option<&'static str> {
        let pairs = [
            (self.float64, offered.float64, "shaderFloat64"),
            (self.int64, offered.int64, "shaderInt64"),
            (self.int16, offered.int16, "shaderInt16"),
            (self.int8, offered.int8, "shaderInt8"),
            (self.storage8, offered.storage8, "storageBuffer8BitAccess"),
            (self.storage16, offered.storage16, "storageBuffer16BitAccess"),
            (self.addresses, offered.addresses, "bufferDeviceAddress"),
            (self.atomics64, offered.atomics64, "shaderBufferInt64Atomics"),
            control(self, offered, |c| c.preserves_special, "shaderSignedZeroInfNanPreserve"),
            control(self, offered, |c| c.rounds_to_even, "shaderRoundingModeRTE"),
            control(self, offered, |c| c.keeps_subnormals, "shaderDenormPreserve"),
        ];
        pairs.into_iter().find(|(needed, has, _)| *needed && !has).map(|(_, _, name)| name)
    }
}

/// A float control of either type, in needs and offers: wanted where a type wants it and is not offered it.
fn control(
    needs: Features,
    offered: Features,
    which: fn(FloatControls) -> bool,
    name: &'static str,
) -> (bool, bool, &'static str) {
    let types = [(needs.controls32, offered.controls32), (needs.controls64, offered.controls64)];
    (true, types.into_iter().all(|(needs, offered)| !which(needs) || which(offered)), name)
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
    }
}
