//! Reads as much of a `Cargo.toml` as the rules need.

/// A crate's manifest.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// The path of the `Cargo.toml`.
    pub(crate) path: String,
    /// The crate's name.
    pub(crate) name: String,
    /// What the crate itself needs, build scripts included.
    pub(crate) dependencies: Vec<Dependency>,
    /// What only its tests need.
    pub(crate) dev_dependencies: Vec<Dependency>,
    /// Whether it takes over the lints of the workspace.
    pub(crate) inherits_lints: bool,
    /// Whether cargo looks for integration tests by itself.
    pub(crate) finds_tests: bool,
    /// Whether the library is also built with the tests inside it.
    pub(crate) tests_library: bool,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The name under which the code knows it.
    pub(crate) name: String,
    /// The line in the manifest, counted from 1.
    pub(crate) line: usize,
    /// Whether a comment says that it is there only to switch on features of others.
    pub(crate) for_features: bool,
}

enum Section {
    Package,
    Library,
    Lints,
    Dependencies,
    DevDependencies,
    Other,
}

impl Manifest {
    /// Reads a manifest line by line; house style keeps every dependency on a line of its own.
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let mut manifest = Self {
            path: path.to_owned(),
            finds_tests: true,
            tests_library: true,
            ..Self::default()
        };
        let mut section = Section::Other;
        for (index, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), index + 1);
            if let Some(header) = line.strip_prefix('[') {
                section = manifest.enter(header.trim_matches(['[', ']']), number);
            } else if let Some((key, value)) = line.split_once('=')
                && !line.starts_with('#')
            {
                manifest.entry(&section, key.trim(), value.trim(), number);
            }
        }
        manifest
    }

    /// The folder of the crate with a slash at the end.
    pub(crate) fn folder(&self) -> &str {
        self.path.strip_suffix("Cargo.toml").unwrap_or(&self.path)
    }

    fn enter(&mut self, header: &str, line: usize) -> Section {
        // `[dependencies.name]` and `[target.'…'.dependencies.name]` name one dependency.
        for (marker, dev) in [("dev-dependencies.", true), ("dependencies.", false)] {
            let starts = header.find(marker).filter(|at| {
                *at == 0 || header[..*at].ends_with('.') || header[..*at].ends_with("build-")
            });
            if let Some(at) = starts {
                self.add(dev, &header[at + marker.len()..], "", line);
                return Section::Other;
            }
        }
        match header {
            "package" => Section::Package,
            "lib" => Section::Library,
            "lints" => Section::Lints,
            _ if header.ends_with("dev-dependencies") => Section::DevDependencies,
            // The shared table of the workspace is no dependency of any crate.
            "workspace.dependencies" => Section::Other,
            _ if header.ends_with("dependencies") => Section::Dependencies,
            _ => Section::Other,
        }
    }

    fn entry(&mut self, section: &Section, key: &str, value: &str, line: usize) {
        match section {
            Section::Package if key == "name" => value.trim_matches('"').clone_into(&mut self.name),
            Section::Package if key == "autotests" => self.finds_tests = value != "false",
            Section::Library if key == "test" => self.tests_library = value != "false",
            Section::Lints if key == "workspace" => self.inherits_lints = value == "true",
            Section::Dependencies => self.add(false, key, value, line),
            Section::DevDependencies => self.add(true, key, value, line),
            Section::Package | Section::Library | Section::Lints | Section::Other => {}
        }
    }

    fn add(&mut self, dev: bool, key: &str, value: &str, line: usize) {
        let name = key.split('.').next().unwrap_or(key).trim_matches('"').to_owned();
        let for_features = value.contains("# for its features");
        let dependency = Dependency { name, line, for_features };
        if dev {
            self.dev_dependencies.push(dependency);
        } else {
            self.dependencies.push(dependency);
        }
    }
}
