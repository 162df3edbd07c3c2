//! Where in the source a statement comes from.

use std::fmt;

/// A byte range of a source file. The IR only carries it along; the front end knows what it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Number of the source file in the front end's source map.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte; equal to `start` for code that no source text stands for.
    pub end: u32,
    /// What the statement computes of that text.
    pub role: Role,
}

impl Span {
    /// The span of code that no source text stands for.
    pub const NONE: Span = Span { file: 0, start: 0, end: 0, role: Role::VALUE };

    /// A part of a source file, as its value.
    pub fn new(file: u32, start: u32, end: u32) -> Span {
        Span { file, start, end, role: Role::VALUE }
    }

    /// Whether this is a place in a source file.
    pub fn is_some(self) -> bool {
        self.end > self.start
    }

    /// The place of code that computes a tangent of what the statement computes.
    pub fn tangent(self) -> Span {
        Span { role: self.role.derived(Sweep::Tangent), ..self }
    }

    /// The place of code that computes a cotangent of what the statement computes.
    pub fn cotangent(self) -> Span {
        Span { role: self.role.derived(Sweep::Cotangent), ..self }
    }

    /// The place of code that computes a partial derivative, in a sweep of which this is the place.
    pub fn partial(self) -> Span {
        Span { role: Role(self.role.0 | Role::PARTIAL), ..self }
    }

    /// The place of a loop over segments of the loop.
    pub fn segments(self) -> Span {
        Span { role: Role(self.role.0 | Role::SEGMENTS), ..self }
    }
}

/// The two kinds of derivatives that a statement may compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Forward.
    Tangent,
    /// Reverse.
    Cotangent,
}

/// What a statement computes of the source text that it stands for: the value, or a derivative of a derivative of .. it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Role(u32);

impl Role {
    /// The value.
    pub const VALUE: Role = Role(0);

    const PARTIAL: u32 = 1;
    const SEGMENTS: u32 = 2;
    /// Two bits per sweep above the two flags, the first transform lowest.
    const FIRST_SWEEP: u32 = 2;
    const MAX_SWEEPS: u32 = 15;

    /// The derivatives taken, the first one first. More than fifteen are not told apart.
    pub fn sweeps(self) -> impl Iterator<Item = Sweep> {
        (0..Role::MAX_SWEEPS).map_while(move |n| match (self.0 >> (Role::FIRST_SWEEP + 2 * n)) & 3 {
            0 => None,
            1 => Some(Sweep::Tangent),
            _ => Some(Sweep::Cotangent),
        })
    }

    /// Whether a loop of this role goes through the iterations of its source from the last to the first.
    pub fn is_backwards(self) -> bool {
        self.sweeps().filter(|s| *s == Sweep::Cotangent).count() % 2 == 1
    }

    /// Whether the statement computes a factor by which a tangent or cotangent is multiplied.
    pub fn is_partial(self) -> bool {
        self.0 & Role::PARTIAL != 0
    }

    /// Whether a loop of this role runs over segments of the loop of its source.
    pub fn is_segments(self) -> bool {
        self.0 & Role::SEGMENTS != 0
    }

    fn derived(self, sweep: Sweep) -> Role {
        let n = self.sweeps().count() as u32;
        if n == Role::MAX_SWEEPS {
            return self;
        }
        let bits = match sweep {
            Sweep::Tangent => 1,
            Sweep::Cotangent => 2,
        };
        Role(self.0 | bits << (Role::FIRST_SWEEP + 2 * n))
    }

    /// The role that this text displays.
    pub fn from_text(text: &str) -> Option<Role> {
        text.chars().try_fold(Role::VALUE, |role, letter| match letter {
            't' => Some(role.derived(Sweep::Tangent)),
            'c' => Some(role.derived(Sweep::Cotangent)),
            'p' => Some(Role(role.0 | Role::PARTIAL)),
            's' => Some(Role(role.0 | Role::SEGMENTS)),
            _ => None,
        })
    }
}

/// A letter each for the sweeps in order, for a partial derivative and for segments: `ct`, `cp`.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for sweep in self.sweeps() {
            f.write_str(match sweep {
                Sweep::Tangent => "t",
                Sweep::Cotangent => "c",
            })?;
        }
        if self.is_partial() {
            f.write_str("p")?;
        }
        if self.is_segments() { f.write_str("s") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_tells_the_sweeps_in_order() {
        let span = Span::new(1, 2, 3).cotangent().partial().tangent().segments();
        assert_eq!(span.role.sweeps().collect::<Vec<_>>(), [Sweep::Cotangent, Sweep::Tangent]);
        assert!(span.role.is_partial() && span.role.is_segments() && span.role.is_backwards());
        assert!(!span.cotangent().role.is_backwards());
        assert_eq!(span.role.to_string(), "ctps");
        assert_eq!(Role::from_text("ctps"), Some(span.role));
        assert_eq!(Role::from_text("x"), None);
    }

    #[test]
    fn a_role_holds_fifteen_sweeps_and_ignores_more() {
        let span = (0..20).fold(Span::NONE, |span, _| span.cotangent());
        assert_eq!(span.role.sweeps().count(), 15);
        assert_eq!(Role::from_text(&span.role.to_string()), Some(span.role));
    }
}
