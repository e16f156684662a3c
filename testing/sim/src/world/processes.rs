//! In which process participants run, and how each process is called.

use crate::network::NodeIndex;

/// Processes that run, each by the first of its nodes, and how many have run.
#[derive(Debug, Default)]
pub(super) struct Processes {
    names: Vec<(NodeIndex, u32)>,
    count: u32,
}

impl Processes {
    /// The name of the process of which `first` is the first node; a new one where it has ended.
    pub(super) fn name_of(&mut self, first: NodeIndex) -> u32 {
        let running = self.names.iter().find(|(node, _)| *node == first);
        if let Some((_, name)) = running {
            return *name;
        }
        self.count += 1;
        self.names.push((first, self.count));
        self.count
    }

    /// That process has ended.
    pub(super) fn end(&mut self, first: NodeIndex) {
        self.names.retain(|(node, _)| *node != first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_keeps_its_name_until_it_ends() {
        let mut processes = Processes::default();
        let (one, other) = (processes.name_of(0), processes.name_of(2));
        assert_ne!(one, other);
        assert_eq!(processes.name_of(0), one);
        processes.end(0);
        let anew = processes.name_of(0);
        assert!(anew != one && anew != other);
        assert_eq!(processes.name_of(2), other);
    }
}
