//! `--set`: values by the names of parameters, and by paths to parts of them, laid over what sources give.

use super::path::ValuePath;
use super::target::Target;
use super::{Malformed, Unbound};
use crate::host::files::JsonText;
use crate::host::{Budget, HostType, HostValue};
use serde_json::Value as Json;

/// `name=value` or `name.path=value`.
#[derive(Clone)]
pub(super) struct Setting {
    path: ValuePath,
    json: JsonText,
}

impl Setting {
    pub(super) fn parse(assignment: &str) -> Result<Setting, Malformed> {
        let Some((path, text)) = assignment.split_once('=') else {
            return Err(Malformed::new(format!("--set: expected p=v, found `{assignment}`")));
        };
        let path = ValuePath::parse(path).map_err(|e| Malformed::new(format!("--set: {e}")))?;
        let text = match serde_json::from_str::<Json>(text) {
            Ok(_) => text.to_owned(),
            // Words such as `nan` are no JSON; they are read as strings, which the type judges.
            Err(_) => Json::from(text).to_string(),
        };
        let json = JsonText::new(text.into_bytes()).map_err(|e| Malformed::new(format!("--set {path}: {e}")))?;
        Ok(Setting { path, json })
    }

    /// The parameter.
    pub(super) fn name(&self) -> &str {
        self.path.parts().first().map_or("", String::as_str)
    }

    /// The parameter, and the part of it.
    pub(super) fn path(&self) -> &ValuePath {
        &self.path
    }

    /// The same of a parameter with another name.
    pub(super) fn renamed(self, rename: &impl Fn(String) -> String) -> Setting {
        let name = rename(self.name().to_owned());
        Setting { path: self.path.with_first(name), ..self }
    }

    /// The part of the parameter; empty for the whole.
    fn below(&self) -> &[String] {
        self.path.parts().get(1..).unwrap_or_default()
    }

    /// Whether it gives the whole value.
    pub(super) fn is_whole(&self) -> bool {
        self.below().is_empty()
    }
}

/// Two settings of the same part, if there are any.
pub(super) fn twice<'a>(settings: &[&'a Setting]) -> Option<&'a Setting> {
    let is_again = |k: usize| settings[..k].iter().any(|before| before.path == settings[k].path);
    (0..settings.len()).find(|k| is_again(*k)).map(|k| settings[k])
}

/// The value of a parameter with settings: the whole one, or that of sources, with parts replaced; where neither is
/// there, the parts make the whole.
pub(super) fn apply(
    target: &Target<'_>,
    settings: &[&Setting],
    base: Option<HostValue>,
    budget: &mut Budget,
) -> Result<HostValue, Unbound> {
    let (whole, mut parts): (Vec<&Setting>, Vec<&Setting>) = settings.iter().partition(|setting| setting.is_whole());
    // A part goes over the part around it, in whatever order they are given.
    parts.sort_by_key(|part| part.below().len());
    for part in &parts {
        type_at(target, part)?;
    }
    let mut value = match (whole.as_slice(), base) {
        ([whole, ..], _) => target.of_json(&whole.json, budget)?,
        ([], Some(base)) => base,
        ([], None) => {
            let text = assembled(target.ty, &mut Vec::new(), &parts).unwrap_or_default();
            let json = JsonText::new(text.into_bytes());
            let json = json.map_err(|e| Malformed::new(format!("--set {}: {e}", target.name)))?;
            target.of_json(&json, budget)?
        }
    };
    for part in parts {
        let ty = type_at(target, part)?;
        let read = part.json.value(ty, budget).map_err(|mut misfit| {
            misfit.place.insert_str(0, &format!(".{}", part.below().join(".")));
            Unbound::misfit(target.json_misfit(misfit))
        })?;
        if let Some(place) = part_of(&mut value, part.below()) {
            *place = read;
        }
    }
    Ok(value)
}

/// The type of the part that a setting is for.
fn type_at<'t>(target: &Target<'t>, setting: &Setting) -> Result<&'t HostType, Unbound> {
    let mut ty = target.ty;
    for (k, part) in setting.below().iter().enumerate() {
        let (below, known) = match ty {
            HostType::Struct { fields, .. } => {
                let below = fields.iter().find(|(field, _)| field == part).map(|(_, ty)| ty);
                (below, fields.iter().map(|(field, _)| field.clone()).collect())
            }
            HostType::Tuple(parts) => {
                let below = part.parse().ok().and_then(|at: usize| parts.get(at));
                (below, (0..parts.len()).map(|at| at.to_string()).collect::<Vec<_>>())
            }
            HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Enum { .. } => (None, Vec::new()),
        };
        let Some(below) = below else {
            let around = setting.path.parts()[..=k].join(".");
            let help = match known.as_slice() {
                [] => format!("fields of structs and positions of tuples are set; give `{around}` as a whole"),
                known => format!("`{around}` has {}", super::listed(known.iter().map(String::as_str))),
            };
            let misfit = target.kind(target.shown(), format!("a setting of `{}`", setting.path));
            return Err(Unbound::misfit_with_help(misfit, help));
        };
        ty = below;
    }
    Ok(ty)
}

/// The part of a value at a path that its type has.
fn part_of<'v>(value: &'v mut HostValue, path: &[String]) -> Option<&'v mut HostValue> {
    let Some((first, rest)) = path.split_first() else { return Some(value) };
    match value {
        HostValue::Struct(fields) => {
            let (_, field) = fields.iter_mut().find(|(name, _)| name == first)?;
            part_of(field, rest)
        }
        HostValue::Tuple(parts) => part_of(parts.get_mut(first.parse::<usize>().ok()?)?, rest),
        HostValue::Scalar(_) | HostValue::Tensor(_) | HostValue::Array { .. } | HostValue::Enum { .. } => None,
    }
}

/// JSON of what settings say of a part of a type; none if they say nothing of it.
fn assembled(ty: &HostType, path: &mut Vec<String>, settings: &[&Setting]) -> Option<String> {
    if let Some(setting) = settings.iter().find(|setting| setting.below() == path.as_slice()) {
        return Some(String::from_utf8_lossy(setting.json.text()).into_owned());
    }
    let mut below = |name: String, ty: &HostType| {
        path.push(name);
        let text = assembled(ty, path, settings);
        path.pop();
        text
    };
    match ty {
        HostType::Struct { fields, .. } => {
            let entry = |(name, ty): &(String, HostType)| Some(format!("\"{name}\": {}", below(name.clone(), ty)?));
            let entries: Vec<String> = fields.iter().filter_map(entry).collect();
            (!entries.is_empty()).then(|| format!("{{{}}}", entries.join(", ")))
        }
        HostType::Tuple(parts) => {
            let parts: Vec<Option<String>> = parts.iter().enumerate().map(|(k, ty)| below(k.to_string(), ty)).collect();
            // What is missing fits no type.
            let text = |part: &Option<String>| part.clone().unwrap_or_else(|| "null".to_owned());
            parts
                .iter()
                .any(Option::is_some)
                .then(|| format!("[{}]", parts.iter().map(text).collect::<Vec<_>>().join(", ")))
        }
        HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Enum { .. } => None,
    }
}
