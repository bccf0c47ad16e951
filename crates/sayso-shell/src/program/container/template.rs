//! What a template of `--format` or `-o` shows of an object: a few of its fields, or parts that hold the environment of a
//! container, in which people keep passwords and tokens.
//!
//! Not a reader of these languages: whatever is not plainly a path to a harmless field counts as showing all.

/// Fields that hold the environment of a container, however deep.
pub(super) struct Fields {
    /// It is shown wherever this stands in a path.
    pub shown: &'static [&'static str],
    /// It is shown where a path ends with this.
    pub whole: &'static [&'static str],
}

/// Whether `{{..}}` of Go shows the environment.
pub(super) fn go(template: &str, fields: &Fields) -> bool {
    let mut depth = 0_usize;
    let mut rest = template;
    // `else` has the dot of outside, and variables are not followed.
    let tricky = template.contains("else") || template.contains("define") || template.contains("template");
    while let Some((_, from)) = rest.split_once("{{") {
        let Some((action, after)) = from.split_once("}}") else { return true };
        rest = after;
        let action = action.trim_matches(['-', ' ']);
        let opens = ["range", "with"].iter().any(|word| starts_with_word(action, word));
        let binds = action.contains(":=");
        for path in paths(action) {
            let alone = path == "." || path == "$";
            let bad = match path.as_str() {
                // The object itself, or an element of what was gone into, whose path was looked at there.
                "." => depth == 0 || tricky,
                "$" => true,
                // What is gone into need not be shown whole.
                path => shows(path, fields, !(opens && !binds && !template_shows_dot(template))),
            };
            if bad || alone && opens {
                return true;
            }
        }
        if opens || starts_with_word(action, "if") {
            depth += 1;
        } else if starts_with_word(action, "end") {
            depth = depth.saturating_sub(1);
        }
    }
    false
}

/// Whether a template shows elements of what it goes into: by a lone dot, or by a variable.
fn template_shows_dot(template: &str) -> bool {
    let mut rest = template;
    while let Some((_, from)) = rest.split_once("{{") {
        let Some((action, after)) = from.split_once("}}") else { return true };
        rest = after;
        if action.contains('$') || paths(action).iter().any(|path| path == ".") {
            return true;
        }
    }
    false
}

/// Whether `{..}` of kubectl's JSONPath shows the environment. Without braces the text is a path.
pub(super) fn json_path(template: &str, fields: &Fields) -> bool {
    if !template.contains('{') {
        return path_of_json(template, fields);
    }
    let mut rest = template;
    while let Some((_, from)) = rest.split_once('{') {
        let Some((action, after)) = from.split_once('}') else { return true };
        rest = after;
        let action = action.trim();
        if action == "end" || action.starts_with('"') || action.starts_with('\'') {
            continue;
        }
        let (path, goes_into) = match action.strip_prefix("range ") {
            Some(path) => (path.trim(), true),
            None => (action, false),
        };
        if goes_into {
            if split_json(path).is_none_or(|parts| parts.iter().any(|part| is_one_of(part, fields.shown))) {
                return true;
            }
        } else if path_of_json(path, fields) {
            return true;
        }
    }
    false
}

/// Whether columns of `custom-columns=NAME:.path,..` show it.
pub(super) fn columns(spec: &str, fields: &Fields) -> bool {
    spec.split(',').any(|column| column.split_once(':').is_none_or(|(_, path)| json_path(path, fields)))
}

fn path_of_json(path: &str, fields: &Fields) -> bool {
    let Some(parts) = split_json(path) else { return true };
    let Some(last) = parts.last() else { return true };
    is_one_of(last, fields.whole) || parts.iter().any(|part| is_one_of(part, fields.shown))
}

/// The names in a path. `None`: it goes anywhere (`..`, `*`), names several things at once, or is not understood.
fn split_json(path: &str) -> Option<Vec<String>> {
    let mut bare = String::new();
    let mut rest = path.trim().trim_start_matches(['$', '@']);
    while let Some((before, from)) = rest.split_once('[') {
        let (inside, after) = from.split_once(']')?;
        let filter = inside.starts_with("?(") && inside.ends_with(')');
        let number =
            !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'*' | b':' | b'-'));
        if !filter && !number {
            return None;
        }
        bare.push_str(before);
        rest = after;
    }
    bare.push_str(rest);
    // A dot within a name: `.metadata.labels.app\.kubernetes\.io/name`.
    let bare = bare.replace("\\.", "-");
    let path = bare.strip_prefix('.').unwrap_or(&bare);
    let known = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_/".contains(&b));
    let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
    parts.iter().all(|part| known(part)).then_some(parts)
}

/// Whether what stands at a path of Go shows it: always by a name in it, and by its last name if that is `shown_whole`.
fn shows(path: &str, fields: &Fields, shown_whole: bool) -> bool {
    let parts: Vec<&str> = path.trim_start_matches('$').split('.').filter(|part| !part.is_empty()).collect();
    parts.iter().any(|part| is_one_of(part, fields.shown))
        || shown_whole && parts.last().is_some_and(|last| is_one_of(last, fields.whole))
}

fn is_one_of(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| part.eq_ignore_ascii_case(name))
}

fn starts_with_word(action: &str, word: &str) -> bool {
    action.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The paths and variables in an action, text in quotes left out: `.State.Status`, `.`, `$`, `$x`.
fn paths(action: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut quote: Option<char> = None;
    let mut path = String::new();
    let mut before = ' ';
    for c in action.chars().chain(" ".chars()) {
        if let Some(open) = quote {
            if c == open && before != '\\' {
                quote = None;
            }
            before = c;
            continue;
        }
        let begins = path.is_empty() && (c == '$' || c == '.' && !before.is_ascii_digit());
        let goes_on = !path.is_empty() && (c.is_alphanumeric() || c == '_' || c == '.');
        if begins || goes_on {
            path.push(c);
        } else if !path.is_empty() {
            found.push(std::mem::take(&mut path));
        }
        if matches!(c, '"' | '\'' | '`') {
            quote = Some(c);
        }
        before = c;
    }
    // A variable of a name is what it was bound to.
    found.retain(|path| path == "$" || path.starts_with('.') || path.contains('.'));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTAINER: Fields = Fields { shown: &["env"], whole: &["config", "spec"] };
    const POD: Fields = Fields { shown: &["env", "data"], whole: &["items", "spec", "containers", "annotations"] };

    #[test]
    fn fields_that_hold_no_environment_are_told_apart() {
        for template in [
            "{{.State.Status}}",
            "{{json .State}}",
            "{{.Config.Image}}",
            "{{json .Config.Labels}}",
            "{{index .Config.Labels \"x.y\"}}",
            "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
            "{{range .Mounts}}{{.Source}} {{end}}",
            "{{range $k, $v := .NetworkSettings.Ports}}{{$k}}{{end}}",
            "{{(index (index .NetworkSettings.Ports \"80/tcp\") 0).HostPort}}",
            "{{if .State.Running}}yes{{else}}no{{end}}",
            "{{range .Mounts}}{{.}}{{end}}",
            "plain",
        ] {
            assert!(!go(template, &CONTAINER), "{template}");
        }
        for template in [
            "{{.}}",
            "{{json .}}",
            "{{.Config.Env}}",
            "{{json .Config}}",
            "{{range .Config.Env}}{{.}}{{end}}",
            "{{with .Config}}{{.Env}}{{end}}",
            "{{with .Config}}{{.}}{{end}}",
            "{{with .Config}}{{json .}}{{end}}",
            "{{with $x := .Config}}{{$x}}{{end}}",
            "{{$x := .Config}}{{$x}}",
            "{{index .Config \"Env\"}}",
            "{{index . \"Config\"}}",
            "{{json $}}",
            "{{range .Mounts}}{{json $}}{{end}}",
            "{{range .Mounts}}{{$.Config.Env}}{{end}}",
            "{{range .State.X}}{{else}}{{.}}{{end}}",
            "{{range .Mounts}}{{end}}{{.}}",
            "{{range .}}{{.}}{{end}}",
            "{{.Config.Env",
            "{{printf `%s` .Config.Env}}",
        ] {
            assert!(go(template, &CONTAINER), "{template}");
        }
    }

    #[test]
    fn paths_of_a_cluster_are_told_apart() {
        for path in [
            "{.items[*].metadata.name}",
            "{range .items[*]}{.metadata.name}{\"\\n\"}{end}",
            "{.status.phase}",
            ".status.loadBalancer.ingress[0].ip",
            "{.spec.containers[*].image}",
            "{.status.conditions[?(@.type==\"Ready\")].status}",
            "{.metadata.labels.app\\.kubernetes\\.io/name}",
        ] {
            assert!(!json_path(path, &POD), "{path}");
        }
        for path in [
            "{.items}",
            "{.items[*]}",
            "{.spec}",
            "{.spec.containers[0]}",
            "{.spec.containers[*].env[*].value}",
            "{..env}",
            "{.}",
            "{@}",
            "{$}",
            "{.items[*]['spec']}",
            "{.spec.*}",
            "{.data.x}",
            "{range .spec.containers[*].env[*]}{.value}{end}",
            "{.metadata.annotations}",
            "{.spec",
        ] {
            assert!(json_path(path, &POD), "{path}");
        }
        assert!(!columns("NAME:.metadata.name,NODE:.spec.nodeName", &POD));
        assert!(columns("NAME:.metadata.name,E:.spec.containers[*].env", &POD));
        assert!(!go("{{range .items}}{{.metadata.name}}{{end}}", &POD));
        assert!(go("{{range .items}}{{.}}{{end}}", &POD));
        assert!(go("{{range .items}}{{.spec}}{{end}}", &POD));
    }
}
