//! Which of the devices is opened.

use super::error::DeviceError;
use super::info::DeviceInfo;

/// Which device a program asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best one: discrete before integrated before software.
    #[default]
    Best,
    /// The one with this number in the list.
    Number(usize),
    /// The first one whose name has this text in it.
    Named(String),
}

impl Choice {
    /// A number or a name, as users write it.
    pub fn of_text(text: &str) -> Choice {
        match text.parse() {
            Ok(number) => Choice::Number(number),
            Err(_) => Choice::Named(text.to_owned()),
        }
    }

    /// The device among those of a list.
    pub fn among<'a>(&self, devices: &'a [DeviceInfo]) -> Result<&'a DeviceInfo, DeviceError> {
        let missing = |wanted: String| DeviceError::NoSuchDevice {
            wanted,
            found: devices.iter().map(|device| device.name.clone()).collect(),
        };
        match self {
            Choice::Best => {
                let able = devices.iter().filter(|device| device.runs_kernels());
                able.min_by_key(|device| device.kind).ok_or(DeviceError::NoDevice)
            }
            Choice::Number(number) => devices.get(*number).ok_or_else(|| missing(number.to_string())),
            Choice::Named(name) => {
                let wanted = name.to_lowercase();
                let mut named = devices.iter().filter(|device| device.name.to_lowercase().contains(&wanted));
                named.next().ok_or_else(|| missing(name.clone()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::vulkan::Kind;
    use crate::vulkan::info::Limits;

    fn device(number: usize, name: &str, kind: Kind, is_able: bool) -> DeviceInfo {
        DeviceInfo {
            number,
            name: name.into(),
            kind,
            driver: String::new(),
            version: "1.3.0".into(),
            features: Features { addresses: is_able, int64: is_able, ..Features::default() },
            limits: Limits::default(),
            identity: [0; 24],
        }
    }

    fn devices() -> [DeviceInfo; 4] {
        [
            device(0, "Software One", Kind::Software, true),
            device(1, "Old Card", Kind::Discrete, false),
            device(2, "Inner", Kind::Integrated, true),
            device(3, "Card", Kind::Discrete, true),
        ]
    }

    #[test]
    fn the_best_device_that_runs_kernels_is_chosen() {
        let all = devices();
        assert_eq!(Choice::Best.among(&all).map(|d| d.number), Ok(3));
        assert_eq!(Choice::Best.among(&all[..3]).map(|d| d.number), Ok(2));
        assert_eq!(Choice::Best.among(&all[..2]).map(|d| d.number), Ok(0));
        assert_eq!(Choice::Best.among(&all[1..2]), Err(DeviceError::NoDevice));
    }

    #[test]
    fn text_is_a_number_or_a_part_of_a_name() {
        let all = devices();
        assert_eq!(Choice::of_text("1").among(&all).map(|d| d.number), Ok(1));
        assert_eq!(Choice::of_text("card").among(&all).map(|d| d.number), Ok(1));
        assert_eq!(Choice::of_text("inn").among(&all).map(|d| d.number), Ok(2));
        for wanted in ["7", "none"] {
            let error = Choice::of_text(wanted).among(&all).map(|d| d.number).map_err(|e| e.to_string());
            let text = format!("there is no Vulkan device `{wanted}`; there are: Software One, Old Card, Inner, Card");
            assert_eq!(error, Err(text));
        }
    }
}
