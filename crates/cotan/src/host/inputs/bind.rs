//! Binding: each parameter of a signature gets the value that sources and settings have for it.

use super::content::Content;
use super::leaves::{Leaves, columns_of, of_array, of_arrays, of_table};
use super::path::ValuePath;
use super::set::{Setting, apply, twice};
use super::target::{Target, of_file};
use super::{Bound, Inputs, Malformed, OpenFile, Part, Place, Unbound, listed};
use crate::host::files::JsonText;
use crate::host::{ArgumentMisfit, Arguments, Budget, HostValue, missing, with_defaults};
use cotan_lower::entry::Signature;
use std::collections::BTreeSet;

/// The value of a parameter, or the arrays of an archive that it is made of.
enum Found<'s> {
    Value(HostValue),
    Packed { target: Target<'s>, leaves: Leaves, file: usize },
}

/// What binding counts and gathers.
struct Binding<'b> {
    budget: &'b mut Budget,
    notes: Vec<String>,
    /// The arrays that are wanted of each file, in order. Those of one archive are read together.
    wanted: Vec<Vec<String>>,
}

impl Inputs {
    /// The arguments in the types of a signature. Of what it does not name, nothing is read.
    pub fn bind(&self, signature: &Signature, budget: &mut Budget) -> Result<Bound, Unbound> {
        let targets = Target::all(signature);
        self.expect_known(&targets)?;
        let mut binding = Binding { budget, notes: Vec::new(), wanted: vec![Vec::new(); self.files.len()] };
        let mut found = Vec::new();
        for target in &targets {
            if let Some(value) = self.find(*target, &mut binding)? {
                found.push((target, value));
            }
        }
        let mut arrays = Vec::new();
        for (file, wanted) in self.files.iter().zip(&binding.wanted) {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let read = match &file.content {
                Content::Arrays(arrays) if !wanted.is_empty() => {
                    arrays.read(&wanted, binding.budget).map_err(|e| of_file(&file.name, &e))?
                }
                Content::Arrays(_) | Content::Json(_) | Content::Npy(_) | Content::Csv(_) => Vec::new(),
            };
            arrays.push(read.into_iter());
        }
        let mut args = Arguments::new();
        for (target, found) in found {
            let value = match found {
                Found::Value(value) => value,
                Found::Packed { target, leaves, file } => {
                    leaves.value(&target, &self.files[file].name, &mut arrays[file], &mut binding.notes)?
                }
            };
            args.insert(target.name.to_owned(), value);
        }
        let mut args = with_defaults(signature, args);
        for target in &targets {
            self.apply_settings(target, &mut args, binding.budget)?;
        }
        let mut notes = binding.notes;
        let left_over = self.left_over(&targets);
        self.expect_all(signature, &args, &left_over)?;
        notes.extend(left_over.iter().map(|(file, names)| {
            let names = listed(names.iter().copied());
            format!("nothing asks for {names} of `{file}`")
        }));
        Ok(Bound { args, notes })
    }

    /// Fails if something is given by name for what the signature does not name.
    fn expect_known(&self, targets: &[Target<'_>]) -> Result<(), Unbound> {
        let named = self.parts.iter().filter(|(_, parts)| parts.iter().any(|part| part.is_named));
        let named = named.map(|(name, _)| name.as_str()).chain(self.values.keys().map(String::as_str));
        let mut named = named.chain(self.settings.iter().map(Setting::name));
        match named.find(|name| targets.iter().all(|target| target.name != *name)) {
            None => Ok(()),
            Some(name) => {
                let known = targets.iter().map(|target| target.name.to_owned()).collect();
                Err(Unbound::misfit(ArgumentMisfit::Unknown { name: name.to_owned(), known }))
            }
        }
    }

    /// What sources have for a parameter.
    fn find<'s>(&self, target: Target<'s>, binding: &mut Binding<'_>) -> Result<Option<Found<'s>>, Unbound> {
        if let Some(value) = self.values.get(target.name) {
            return Ok(Some(Found::Value(value.clone())));
        }
        let parts = self.parts.get(target.name).map_or(&[][..], Vec::as_slice);
        if self.settings.iter().any(|setting| setting.name() == target.name && setting.is_whole()) {
            return Ok(None);
        }
        match parts {
            [] => Ok(None),
            [part] => self.read(target, part, binding).map(Some),
            [first, second, ..] => {
                let [first, second] = [first, second].map(|part| self.files[part.file].name.clone());
                let misfit = ArgumentMisfit::Twice { name: target.name.to_owned(), by: [first, second] };
                Err(Unbound::misfit_with_help(
                    misfit,
                    "leave one of them out, or take it by name from the file that is meant",
                ))
            }
        }
    }

    fn read<'s>(&self, target: Target<'s>, part: &Part, binding: &mut Binding<'_>) -> Result<Found<'s>, Unbound> {
        let file = &self.files[part.file];
        let path = match &part.place {
            Place::At(path) => path.clone(),
            Place::Of(name) => {
                let place = file.content.place(name, Some(target.ty)).map_err(|e| of_file(&file.name, &e))?;
                place.ok_or_else(|| undecided(&target, file, name))?
            }
        };
        match &file.content {
            Content::Json(text) => {
                let text = json_at(text, &path, file)?;
                target.of_json(&text, binding.budget).map(Found::Value)
            }
            Content::Arrays(arrays) => {
                let leaves = Leaves::of(&target, "arrays")?;
                binding.wanted[part.file].extend(of_arrays(&target, &leaves, &file.name, arrays, &path)?);
                Ok(Found::Packed { target, leaves, file: part.file })
            }
            Content::Npy(array) => {
                of_array(&target, &file.name, array, &path, binding.budget, &mut binding.notes).map(Found::Value)
            }
            Content::Csv(table) => of_table(&target, &file.name, table, &path, binding.budget).map(Found::Value),
        }
    }

    /// Lays the settings of a parameter over its value.
    fn apply_settings(&self, target: &Target<'_>, args: &mut Arguments, budget: &mut Budget) -> Result<(), Unbound> {
        let settings: Vec<&Setting> = self.settings.iter().filter(|setting| setting.name() == target.name).collect();
        if settings.is_empty() {
            return Ok(());
        }
        if let Some(again) = twice(&settings) {
            let by = ["--set", "--set"].map(str::to_owned);
            return Err(Unbound::misfit(ArgumentMisfit::Twice { name: again.path().to_string(), by }));
        }
        let value = apply(target, &settings, args.remove(target.name), budget)?;
        args.insert(target.name.to_owned(), value);
        Ok(())
    }

    /// What is in files that were given as a whole and no parameter is called, by file.
    fn left_over(&self, targets: &[Target<'_>]) -> Vec<(&str, Vec<&str>)> {
        let is_unknown = |name: &&String| targets.iter().all(|target| target.name != name.as_str());
        let mut all = Vec::new();
        for (k, file) in self.files.iter().enumerate() {
            let is_of_it = |parts: &[Part]| parts.iter().any(|part| part.file == k);
            let of_it = self.parts.iter().filter(|(_, parts)| is_of_it(parts));
            let names: Vec<&str> = of_it.map(|(name, _)| name).filter(is_unknown).map(String::as_str).collect();
            if !names.is_empty() {
                all.push((file.name.as_str(), names));
            }
        }
        all
    }

    /// Fails if parameters have no value.
    fn expect_all(
        &self,
        signature: &Signature,
        args: &Arguments,
        left_over: &[(&str, Vec<&str>)],
    ) -> Result<(), Unbound> {
        let params = missing(signature, &|param| args.contains_key(&param.name));
        let Some((first, _)) = params.first().cloned() else { return Ok(()) };
        let help = left_over.first().map(|(file, names)| {
            let example = names.first().copied().unwrap_or_default();
            format!("`{file}` has {}: `{first}={file}:{example}` takes a part", listed(names.iter().copied()))
        });
        Err(Unbound::Misfit { misfit: Box::new(ArgumentMisfit::Missing { params }), help })
    }
}

/// Nothing says which part of a file is a parameter.
fn undecided(target: &Target<'_>, file: &OpenFile, wanted: &str) -> Unbound {
    let name = &file.name;
    if let Content::Csv(table) = &file.content {
        let example = table.names().first().cloned().unwrap_or_else(|| "0".to_owned());
        let message = format!("`{name}`: which column is `{}: {}`? {}", target.name, target.shown(), columns_of(table));
        let help = format!("name one: `{}={name}:{}`", target.name, ValuePath::of(&example));
        return Malformed::new(message).help(help).into();
    }
    let entries = file.content.entries().ok().flatten().unwrap_or_default();
    let example = entries.first().map_or("", String::as_str);
    let found = listed(entries.iter().map(String::as_str));
    let found = if found.is_empty() { "nothing".to_owned() } else { found };
    let message = format!("`{name}`: expected an entry `{wanted}`, a single one, or `result`, found {found}");
    Malformed::new(message).help(format!("name the part: `{}={name}:{}`", target.name, ValuePath::of(example))).into()
}

/// The text at a path.
fn json_at(text: &JsonText, path: &ValuePath, file: &OpenFile) -> Result<JsonText, Unbound> {
    let mut at = text.clone();
    for part in path.parts() {
        let below = at.part(part).map_err(|e| of_file(&file.name, &e))?;
        let Some(below) = below else {
            let entries = at.entries().ok().flatten().unwrap_or_default();
            let names: BTreeSet<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
            let message = format!("`{}`: there is no `{part}` on the way to `{path}`", file.name);
            let found = match names.is_empty() {
                true => format!("there stands {}", super::shown(&at)),
                false => format!("it has {}", listed(names)),
            };
            return Err(Malformed::new(message).help(found).into());
        };
        at = below;
    }
    Ok(at)
}
