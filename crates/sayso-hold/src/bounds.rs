//! Bounds, as they are sent and compared.

use crate::wire::{Reader, Wire};
use sayso_shell::bounds::{Bounds, Cache, CacheView, Decoy, Host, Leave, Need, Shared};
use std::path::PathBuf;

impl Wire for Decoy {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        self.text.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { path: PathBuf::take(from)?, text: String::take(from)? })
    }
}

impl Wire for Host {
    fn put(&self, out: &mut Vec<u8>) {
        self.name.put(out);
        self.ports.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { name: String::take(from)?, ports: Vec::take(from)? })
    }
}

impl Wire for Shared {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        self.since.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { path: PathBuf::take(from)?, since: u64::take(from)? })
    }
}

impl Wire for Cache {
    fn put(&self, out: &mut Vec<u8>) {
        self.path.put(out);
        let (tag, folder) = match &self.seen {
            CacheView::Copy(store) => (0_u8, Some(store.clone())),
            CacheView::Private(folder) => (1, Some(folder.clone())),
            CacheView::Empty => (2, None),
        };
        tag.put(out);
        folder.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let path = PathBuf::take(from)?;
        let (tag, folder) = (u8::take(from)?, <Option<PathBuf> as Wire>::take(from)?);
        let seen = match tag {
            0 => CacheView::Copy(folder?),
            1 => CacheView::Private(folder?),
            2 => CacheView::Empty,
            _ => return None,
        };
        Some(Self { path, seen })
    }
}

impl Wire for Bounds {
    fn put(&self, out: &mut Vec<u8>) {
        // Named one by one: a field that is forgotten here does not compile.
        let Self {
            write,
            read_only,
            absent,
            aside,
            hide,
            read,
            decoys,
            texts,
            refuse,
            shared,
            hosts,
            sockets,
            caches,
            withhold,
            replace,
            need,
            leave,
        } = self;
        for paths in [write, read_only, absent, hide, read, refuse, sockets] {
            paths.put(out);
        }
        aside.put(out);
        decoys.put(out);
        texts.put(out);
        shared.put(out);
        replace.put(out);
        hosts.put(out);
        caches.put(out);
        withhold.put(out);
        (*need == Need::Whole).put(out);
        (*leave == Leave::Session).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            write: Vec::take(from)?,
            read_only: Vec::take(from)?,
            absent: Vec::take(from)?,
            hide: Vec::take(from)?,
            read: Vec::take(from)?,
            refuse: Vec::take(from)?,
            sockets: Vec::take(from)?,
            aside: <Option<PathBuf> as Wire>::take(from)?,
            decoys: Vec::take(from)?,
            texts: Vec::take(from)?,
            shared: Vec::take(from)?,
            replace: Vec::take(from)?,
            hosts: Vec::take(from)?,
            caches: Vec::take(from)?,
            withhold: Vec::take(from)?,
            need: if bool::take(from)? { Need::Whole } else { Need::Files },
            leave: if bool::take(from)? { Leave::Session } else { Leave::End },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_arrive_as_they_were_sent() {
        let bounds = Bounds {
            write: vec!["/w".into()],
            read_only: vec!["/w/r".into()],
            absent: vec!["/w/a".into()],
            aside: Some("/aside".into()),
            hide: vec!["/h".into()],
            read: vec!["/h/r".into()],
            decoys: vec![Decoy { path: "/w/d".into(), text: "no".into() }],
            texts: vec![Decoy { path: "/w/t".into(), text: "less".into() }],
            refuse: vec!["/w/x".into()],
            shared: vec![Shared { path: "/tmp".into(), since: 7 }],
            hosts: vec![Host { name: "a.example".into(), ports: vec![22] }],
            sockets: vec!["/s".into()],
            caches: vec![Cache { path: "/c".into(), seen: CacheView::Copy("/k".into()) }],
            withhold: vec!["T".into()],
            replace: vec![("A".into(), "b".into())],
            need: Need::Files,
            leave: Leave::Session,
        };
        assert_eq!(Bounds::from_bytes(&bounds.bytes()), Some(bounds));
    }
}
