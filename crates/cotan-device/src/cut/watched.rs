//! NaN detection at stores, on devices: a call whose products are plain is to begin anew where a result is NaN. Kernels look
//! at what they store to results. A result that is not only stored to is stored once more, to the places where it lies.

use super::writer::{Writer, counted, store};
use cotan_ir::Elem;
use cotan_loops::{Argument, BufferKind, Home, Independence, LoopFunction, Operand, unwatched_results, watch_results};
use cotan_ops::Instruction;

/// Watches the elements of all float results.
pub(super) fn watch_all_results(f: &mut LoopFunction) {
    watch_results(f);
    let results = f.results.clone();
    for number in unwatched_results(f) {
        let Argument::Tensor(tensor) = &results[number] else { continue };
        let buffer = tensor.place.buffer;
        let is_result = matches!(f.buffers[buffer.index()].kind, BufferKind::Allocated(Home::Result(_)));
        if !is_result || !tensor.elem.is_float() {
            continue;
        }
        let (mut writer, mut nodes) = (Writer { f }, Vec::new());
        let size = writer.product(&tensor.dims, &mut nodes);
        let (index, mut body) = (writer.local("i", Elem::I64), Vec::new());
        let offset = writer.int(Instruction::Add, tensor.place.offset, Operand::Local(index), &mut body);
        let value = writer.load(buffer, offset, &mut body);
        body.push(store(buffer, offset, value));
        nodes.push(counted(index, size, Independence::All, body));
        f.body.extend(nodes);
        f.watched.push(buffer);
    }
}
