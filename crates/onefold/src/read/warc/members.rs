//! Which decoded byte came from which member of the file.

use std::collections::VecDeque;

/// A place where a member begins.
pub(super) struct Boundary {
    /// The position among the decoded bytes.
    pub(super) position: u64,
    /// Where the member before it ended in the file; none after damage.
    pub(super) ended: Option<u64>,
    /// Where it begins in the file.
    pub(super) begins: u64,
}

/// The members whose bytes are in the window, by rising position; no two at the same.
#[derive(Default)]
pub(super) struct Members(VecDeque<Boundary>);

impl Members {
    pub(super) fn push(&mut self, boundary: Boundary) {
        match self.0.back_mut() {
            // An empty member gives its place to the next one.
            Some(last) if last.position == boundary.position => last.begins = boundary.begins,
            _ => self.0.push_back(boundary),
        }
    }

    /// Forgets the members before the one that this byte lies in.
    pub(super) fn forget_before(&mut self, position: u64) {
        while self.0.get(1).is_some_and(|second| second.position < position) {
            self.0.pop_front();
        }
    }

    pub(super) fn last(&self) -> Option<&Boundary> {
        self.0.back()
    }

    /// The member that begins at this position.
    pub(super) fn at(&self, position: u64) -> Option<&Boundary> {
        self.0.get(self.0.binary_search_by_key(&position, |member| member.position).ok()?)
    }

    /// The first member that begins at this position or after it.
    pub(super) fn from(&self, position: u64) -> Option<&Boundary> {
        self.0.get(self.0.partition_point(|member| member.position < position))
    }

    /// The member that the byte at this position lies in.
    pub(super) fn around(&self, position: u64) -> Option<&Boundary> {
        let after = self.0.partition_point(|member| member.position <= position);
        self.0.get(after.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_position() {
        let mut members = Members::default();
        for (position, begins) in [(0, 0), (10, 5), (10, 6), (30, 9)] {
            members.push(Boundary { position, ended: Some(begins), begins });
        }
        let begins = |member: Option<&Boundary>| member.map(|member| member.begins);
        assert_eq!((begins(members.at(10)), begins(members.at(11))), (Some(6), None));
        assert_eq!(members.at(10).unwrap().ended, Some(5));
        assert_eq!((begins(members.from(11)), begins(members.from(31))), (Some(9), None));
        assert_eq!((begins(members.around(9)), begins(members.around(29))), (Some(0), Some(6)));
        members.forget_before(30);
        assert_eq!((begins(members.around(29)), begins(members.at(0))), (Some(6), None));
    }
}
