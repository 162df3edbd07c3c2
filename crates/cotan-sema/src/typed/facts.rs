//! The facts of a source that editors show: types and definitions.

use super::Type;
use crate::modules::ModuleId;
use cotan_syntax::Span;
use cotan_syntax::ast::NodeId;

/// What the language server shows: which node of the source has which type and which definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFacts {
    /// For each module the types of the values at its nodes.
    pub types: Vec<Vec<Option<Type>>>,
    /// Uses and where the name is defined, in the order of the source.
    pub definitions: Vec<Use>,
}

/// A use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Where the name is used.
    pub span: Span,
    /// Where it is defined.
    pub definition: Span,
}

impl SourceFacts {
    /// The type at a node of a module.
    pub fn type_at(&self, module: ModuleId, node: NodeId) -> Option<&Type> {
        self.types.get(module.0 as usize)?.get(node.0 as usize)?.as_ref()
    }
}
