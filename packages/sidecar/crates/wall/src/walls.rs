//! The parts of the wall, and the report on each part.

/// The name of a part. The names are the names on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartName {
    /// `no_new_privs`: executing a file adds no right.
    NoNewPrivileges,
    /// No capability, in no set.
    Capabilities,
    /// A user namespace, in which only the process's own user exists.
    UserNamespace,
    /// A mount namespace with an empty root.
    MountNamespace,
    /// An IPC namespace.
    IpcNamespace,
    /// A UTS namespace.
    UtsNamespace,
    /// Limits on resources.
    Limits,
    /// A Landlock domain.
    Landlock,
    /// Other processes of the user cannot read the memory, and no dump is written.
    NotDumpable,
    /// The list of allowed system calls.
    Seccomp,
}

impl PartName {
    /// Returns the name on the wire.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoNewPrivileges => "noNewPrivileges",
            Self::Capabilities => "capabilities",
            Self::UserNamespace => "userNamespace",
            Self::MountNamespace => "mountNamespace",
            Self::IpcNamespace => "ipcNamespace",
            Self::UtsNamespace => "utsNamespace",
            Self::Limits => "limits",
            Self::Landlock => "landlock",
            Self::NotDumpable => "notDumpable",
            Self::Seccomp => "seccomp",
        }
    }
}

/// One part of the wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name.
    pub name: PartName,
    /// The reason why the part is missing. `None` if the part is enforced.
    pub missing: Option<String>,
}

/// The report on all parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walls {
    /// The parts, in the order in which they were built.
    pub parts: Vec<Part>,
}

impl Walls {
    /// Returns whether a part is enforced.
    pub fn stands(&self, name: PartName) -> bool {
        self.parts.iter().any(|part| part.name == name && part.missing.is_none())
    }

    /// Returns the names of the missing parts.
    pub fn missing(&self) -> Vec<&'static str> {
        self.parts.iter().filter(|part| part.missing.is_some()).map(|part| part.name.text()).collect()
    }

    pub(crate) fn push(&mut self, name: PartName, built: Result<(), String>) {
        self.parts.push(Part { name, missing: built.err() });
    }

    pub(crate) fn extend(&mut self, built: impl IntoIterator<Item = (PartName, Result<(), String>)>) {
        built.into_iter().for_each(|(name, built)| self.push(name, built));
    }
}
