//! What the numbers in error reports stand for, and its text in the cache: a line for each check, then one for each place
//! that asks for memory.

use cotan_ir::{AllocationSite, CheckKind, Elem, Role, Span};

/// A check of emitted code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedCheck {
    /// What a failure means.
    pub kind: CheckKind,
    /// The types of the numbers that are reported, i64 or u64.
    pub args: Vec<Elem>,
    /// The source text that it stands for.
    pub span: Span,
}

/// What the numbers in error reports stand for: positions in these lists, from 1 on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// Every check.
    pub checks: Vec<EmittedCheck>,
    /// Every place that asks for memory.
    pub sites: Vec<AllocationSite>,
}

impl Reports {
    /// One line for each, its fields apart by tabulators.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for EmittedCheck { kind, args, span } in &self.checks {
            let args: Vec<&str> = args.iter().map(|elem| elem.name()).collect();
            text += &format!("check\t{}\t{}\t{}\n", place(*span), kind.code(), args.join(" "));
        }
        for AllocationSite { name, span, is_record } in &self.sites {
            text += &format!("site\t{}\t{is_record}\t{name}\n", place(*span));
        }
        text
    }

    /// What such lines say.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Reports> {
        let mut reports = Reports::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.splitn(7, '\t').collect();
            let [kind, file, start, end, role, rest @ ..] = fields.as_slice() else { return None };
            let number = |text: &str| text.parse::<u32>().ok();
            let role = Role::from_text(role)?;
            let span = Span { file: number(file)?, start: number(start)?, end: number(end)?, role };
            match (*kind, rest) {
                ("check", [code, args]) => {
                    let args = args.split_whitespace().map(Elem::from_name).collect::<Option<_>>()?;
                    reports.checks.push(EmittedCheck { kind: CheckKind::from_code(code)?, args, span });
                }
                ("site", [is_record, name]) => {
                    let is_record = is_record.parse().ok()?;
                    reports.sites.push(AllocationSite { name: (*name).into(), span, is_record });
                }
                _ => return None,
            }
        }
        Some(reports)
    }
}

fn place(Span { file, start, end, role }: Span) -> String {
    format!("{file}\t{start}\t{end}\t{role}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_out_of_their_text_as_they_went_in() {
        let span = Span::new(1, 20, 35).cotangent().partial();
        let check = |kind, args: &[Elem], span| EmittedCheck { kind, args: args.to_vec(), span };
        let mut checks = vec![check(CheckKind::IndexRange, &[Elem::I64, Elem::U64], span)];
        checks.extend(CheckKind::ALL.map(|kind| check(kind, &[], Span::NONE)));
        let site = |name: &str, is_record| AllocationSite { name: name.into(), span, is_record };
        let sites = vec![site("x", true), site("two\twords", false), site("", true)];
        let reports = Reports { checks, sites };
        assert_eq!(Reports::from_text(&reports.to_text()), Some(reports));
        assert_eq!(Reports::from_text(""), Some(Reports::default()));
    }

    #[test]
    fn other_text_gives_no_reports() {
        for text in
            ["check", "check\t0\t0\t0\t\tR9999\t", "site\t0\t0\t0\tx\ttrue\tname", "word\t0\t0\t0\t\ttrue\tname"]
        {
            assert_eq!(Reports::from_text(text), None, "{text}");
        }
    }
}
