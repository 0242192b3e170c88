//! What a user should know beside the rows.

use serde::Serialize;

/// Is a text on the panel's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    pub severity: Severity,
    pub text: String,
}

/// Says how a notice looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Notice {
    /// Makes a notice that asks for nothing.
    pub fn info(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Info,
            text: text.into(),
        }
    }

    /// Makes a notice of something that a user may want to change.
    pub fn warning(text: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            text: text.into(),
        }
    }
}

/// Collects notices until the next packet.
#[derive(Debug, Default)]
pub struct Notices(Vec<Notice>);

impl Notices {
    /// Adds a notice, unless one of the same text waits.
    pub fn push(&mut self, notice: Notice) {
        if !self.0.contains(&notice) {
            self.0.push(notice);
        }
    }

    /// Tells whether none waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives those that wait.
    pub fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.0)
    }
}
