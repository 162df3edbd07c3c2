//! The derivative forms of the language, and their modes. What each takes and gives stands at [`super::Derivative`].

/// Which derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DerivativeForm {
    /// `grad`
    Grad,
    /// `value_and_grad`
    ValueAndGrad,
    /// `jvp`
    Jvp,
    /// `vjp`
    Vjp,
    /// `jacobian`
    Jacobian,
    /// `hessian`
    Hessian,
    /// `hvp`
    Hvp,
}

impl DerivativeForm {
    /// All forms.
    pub const ALL: [Self; 7] =
        [Self::Grad, Self::ValueAndGrad, Self::Jvp, Self::Vjp, Self::Jacobian, Self::Hessian, Self::Hvp];

    /// The name in the language.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grad => "grad",
            Self::ValueAndGrad => "value_and_grad",
            Self::Jvp => "jvp",
            Self::Vjp => "vjp",
            Self::Jacobian => "jacobian",
            Self::Hessian => "hessian",
            Self::Hvp => "hvp",
        }
    }

    /// Whether the form is of one number: gradients, and derivatives of them.
    pub fn is_of_a_number(self) -> bool {
        match self {
            Self::Grad | Self::ValueAndGrad | Self::Hessian | Self::Hvp => true,
            Self::Jvp | Self::Vjp | Self::Jacobian => false,
        }
    }

    /// Whether a function may give more than the number that is differentiated: `(loss, aux..)`.
    pub fn takes_aux(self) -> bool {
        match self {
            Self::Grad | Self::ValueAndGrad => true,
            Self::Jvp | Self::Vjp | Self::Jacobian | Self::Hessian | Self::Hvp => false,
        }
    }

    /// Whether the form may be computed in either mode.
    pub fn has_mode(self) -> bool {
        match self {
            Self::Grad | Self::ValueAndGrad | Self::Jacobian | Self::Hessian | Self::Hvp => true,
            Self::Jvp | Self::Vjp => false,
        }
    }
}

/// A form as the language names it: itself, or one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedForm {
    /// The name in the language.
    pub name: &'static str,
    /// Which derivative.
    pub form: DerivativeForm,
    /// The mode, where the name says it.
    pub mode: Option<DerivativeMode>,
}

impl NamedForm {
    /// The names that say a mode too.
    const OF_ONE_MODE: [Self; 2] = [
        Self { name: "jacfwd", form: DerivativeForm::Jacobian, mode: Some(DerivativeMode::Forward) },
        Self { name: "jacrev", form: DerivativeForm::Jacobian, mode: Some(DerivativeMode::Reverse) },
    ];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let plain = DerivativeForm::ALL.into_iter().map(|form| Self { name: form.as_str(), form, mode: None });
        plain.chain(Self::OF_ONE_MODE)
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|form| form.name == name)
    }

    /// Whether what it makes takes the arguments of the function, and nothing else.
    pub fn takes_only_arguments(self) -> bool {
        match self.form {
            DerivativeForm::Grad
            | DerivativeForm::ValueAndGrad
            | DerivativeForm::Jacobian
            | DerivativeForm::Hessian => true,
            DerivativeForm::Jvp | DerivativeForm::Vjp | DerivativeForm::Hvp => false,
        }
    }

    /// Whether the list of parameters may say a mode.
    pub fn takes_mode(self) -> bool {
        self.form.has_mode() && self.mode.is_none()
    }
}

/// How a derivative is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DerivativeMode {
    /// From the parameters to the result.
    Forward,
    /// From the result to the parameters.
    Reverse,
}

impl DerivativeMode {
    /// The same in the core IR.
    pub fn ir(self) -> cotan_ir::Mode {
        match self {
            DerivativeMode::Forward => cotan_ir::Mode::Jvp,
            DerivativeMode::Reverse => cotan_ir::Mode::Vjp,
        }
    }
}
