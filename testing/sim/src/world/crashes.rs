//! Nodes that go without a word and come back, and nodes that leave for good.

use super::*;

impl World {
    /// True when `node` is not there; endpoints that begin or end meanwhile do so as far as its
    /// next life is concerned.
    pub(super) fn is_away(&mut self, node: NodeIndex, action: Action) -> bool {
        let Some((writers, readers)) = self.away.get_mut(&node) else {
            return false;
        };
        match action {
            Action::StartWriter(plan) => writers.push(plan),
            Action::StopWriter(plan) => writers.retain(|it| *it != plan),
            Action::StartReader(plan) => readers.push(plan),
            Action::StopReader(plan) => readers.retain(|it| *it != plan),
            _ => {}
        }
        true
    }

    pub(super) fn crash(&mut self, node: NodeIndex, down: Duration, same_prefix: bool) {
        if self.healed || self.away.contains_key(&node) {
            return;
        }
        self.processes.end(self.scenario.processes[node]);
        self.recovery.note_end(self.now);
        let back_at = self.now.after(down).min(self.scenario.heals_at);
        for node in self.scenario.process_of(node) {
            if self.away.contains_key(&node) {
                continue;
            }
            let plans = self.end_endpoints(node);
            self.take_down(node, plans);
            self.plan(back_at, Todo::Boot { node, same_prefix });
        }
    }

    /// `node` is away; the writers and readers of these plans come back with it.
    fn take_down(&mut self, node: NodeIndex, plans: (Vec<usize>, Vec<usize>)) {
        self.nodes[node].participant = None;
        self.next_of_node[node] = None;
        self.network.set_down(node, true);
        self.away.insert(node, plans);
    }

    /// Its endpoints end with it; gives back the plans of writers and readers.
    fn end_endpoints(&mut self, node: NodeIndex) -> (Vec<usize>, Vec<usize>) {
        let writers: Vec<_> = self.nodes[node].writers.drain(..).collect();
        let readers: Vec<_> = self.nodes[node].readers.drain(..).collect();
        for gone in &readers {
            self.model.remove_reader(gone.id);
        }
        let writers = writers.iter().map(|gone| gone.plan).collect();
        (writers, readers.iter().map(|gone| gone.plan).collect())
    }

    pub(super) fn boot(&mut self, node: NodeIndex, same_prefix: bool) {
        let Some((writers, readers)) = self.away.remove(&node) else {
            return;
        };
        self.network.set_down(node, false);
        if !same_prefix {
            self.lives[node] += 1;
            self.nodes[node].prefix = prefix(node, self.lives[node]);
        }
        self.start_participant(node);
        for plan in writers {
            self.start_writer(plan);
        }
        for plan in readers {
            self.start_reader(plan);
        }
        self.settle(node);
    }

    pub(super) fn leave(&mut self, node: NodeIndex) {
        if self.healed || self.away.contains_key(&node) {
            return;
        }
        self.depart(node);
        if !self.scenario.discovery {
            self.stop_endpoints(node);
        }
        self.end_endpoints(node);
        self.take_down(node, (Vec::new(), Vec::new()));
        self.recovery.note_end(self.now);
    }

    /// Stops the endpoints of `node`; the others learn of it.
    fn stop_endpoints(&mut self, node: NodeIndex) {
        let plans = |slot: &WriterSlot| slot.plan;
        let writers: Vec<_> = self.nodes[node].writers.iter().map(plans).collect();
        writers.into_iter().for_each(|plan| self.stop_writer(plan));
        let plans = |slot: &ReaderSlot| slot.plan;
        let readers: Vec<_> = self.nodes[node].readers.iter().map(plans).collect();
        readers.into_iter().for_each(|plan| self.stop_reader(plan));
    }
}
