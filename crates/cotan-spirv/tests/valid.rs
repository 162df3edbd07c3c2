//! Kernels are valid SPIR-V, as `spirv-val` says where it is installed.

use crate::common::validate;
use cotan_ir::Elem;
use cotan_spirv::emit::Emitter;
use cotan_spirv::features::{Features, FloatControls};
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::probing_kernel;

const CONTROLS: FloatControls = FloatControls { preserves_special: true, rounds_to_even: true, keeps_subnormals: true };

const ALL: Features = Features {
    float64: true,
    int64: true,
    int16: true,
    int8: true,
    storage8: true,
    storage16: true,
    addresses: true,
    atomics64: true,
    controls32: CONTROLS,
    controls64: CONTROLS,
};

#[test]
fn kernels_of_the_probe_are_valid() {
    for numbers in [Numbers::of_driver(), Numbers::all_replaced()] {
        for elem in Elem::ALL {
            let mapping = probing_kernel(ALL, &numbers, elem).expect("every instruction has code");
            validate(elem.name(), mapping.kernel());
        }
        let features = Features { float64: false, ..Features::default() };
        let mapping = probing_kernel(features, &numbers, Elem::F32).expect("every instruction has code");
        assert_eq!(mapping.kernel().needs(), Features { int64: true, addresses: true, ..Features::default() });
        validate("f32 without f64", mapping.kernel());
    }
}

#[test]
fn elements_of_every_width_are_moved() {
    let numbers = Numbers::of_driver();
    for elem in Elem::ALL {
        let mut out = Emitter::new(ALL, &numbers, 64);
        let (array, thread) = (out.argument(0), out.thread());
        let place = out.address(elem, array, thread);
        let element = out.load(elem, place);
        out.store(elem, place, element);
        let kernel = out.finish();
        assert_eq!(kernel.needs().storage8, elem.bytes() == 1, "{elem}");
        assert_eq!(kernel.needs().storage16, elem.bytes() == 2, "{elem}");
        assert_eq!(kernel.needs().float64, elem == Elem::F64, "{elem}");
        validate(elem.name(), &kernel);
    }
}
