//! The modules of a crate: what each defines, imports and names.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use super::Sources;

/// One module. Module 0 is the crate's root.
pub(super) struct Module {
    pub(super) parent: Option<usize>,
    pub(super) file: String,
    pub(super) children: BTreeMap<String, usize>,
    /// Names of what is defined here.
    pub(super) items: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Modules all of whose names are imported.
    pub(super) globs: Vec<Vec<String>>,
    /// Everything named here, imports included.
    pub(super) references: Vec<Reference>,
    /// From the root, without it.
    path: Vec<String>,
    /// The folder in which its modules have their files.
    folder: String,
}

/// A name that stands for a path.
pub(super) struct Import {
    pub(super) name: String,
    pub(super) path: Vec<String>,
}

/// A path in the source.
pub(super) struct Reference {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

impl Module {
    fn new(parent: Option<usize>, path: Vec<String>, file: &str, folder: String) -> Self {
        Self {
            parent,
            file: file.to_owned(),
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: Vec::new(),
            globs: Vec::new(),
            references: Vec::new(),
            path,
            folder,
        }
    }

    /// Its path from the root, as people write it.
    pub(super) fn name(&self) -> String {
        self.path.join("::")
    }
}

/// Reads the crate that begins with the file `root`.
pub(super) fn read(sources: &Sources, root: &str) -> Result<Vec<Module>, String> {
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut reader = Reader {
        sources,
        modules: vec![Module::new(None, Vec::new(), root, folder.to_owned())],
        at: 0,
        error: None,
    };
    reader.file(root);
    match reader.error {
        Some(error) => Err(error),
        None => Ok(reader.modules),
    }
}

struct Reader<'a> {
    sources: &'a Sources,
    modules: Vec<Module>,
    /// The module that is being read.
    at: usize,
    /// The first thing that went wrong.
    error: Option<String>,
}

impl Reader<'_> {
    fn file(&mut self, path: &str) {
        let text = &self.sources[path];
        match syn::parse_file(text) {
            Ok(file) => self.visit_file(&file),
            Err(error) => {
                let line = error.span().start().line;
                self.fail(format!("{path}:{line}: {error}"));
            }
        }
    }

    fn fail(&mut self, error: String) {
        self.error.get_or_insert(error);
    }

    fn here(&mut self) -> &mut Module {
        &mut self.modules[self.at]
    }

    fn module(&mut self, module: &syn::ItemMod) {
        let name = plain(&module.ident);
        let here = &self.modules[self.at];
        let mut path = here.path.clone();
        path.push(name.clone());
        let folder = format!("{}/{name}", here.folder);
        let (file, folder) = if module.content.is_some() {
            (here.file.clone(), folder)
        } else {
            match self.file_of(module, &name) {
                Some(found) => found,
                None => {
                    let file = here.file.clone();
                    let line = module.ident.span().start().line;
                    self.fail(format!("{file}:{line}: module `{name}` has no file"));
                    return;
                }
            }
        };
        let child = self.modules.len();
        self.modules
            .push(Module::new(Some(self.at), path, &file, folder));
        self.here().children.insert(name, child);
        let parent = std::mem::replace(&mut self.at, child);
        match &module.content {
            Some((_, items)) => items.iter().for_each(|item| self.visit_item(item)),
            None => self.file(&file),
        }
        self.at = parent;
    }

    /// The file of a module that is declared here, and the folder of its own modules.
    fn file_of(&self, module: &syn::ItemMod, name: &str) -> Option<(String, String)> {
        let here = &self.modules[self.at];
        let inside = format!("{}/{name}", here.folder);
        if let Some(given) = path_attribute(&module.attrs) {
            let beside = here.file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let file = format!("{beside}/{given}");
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            return self
                .sources
                .contains_key(&file)
                .then(|| (file.clone(), folder.to_owned()));
        }
        [format!("{inside}.rs"), format!("{inside}/mod.rs")]
            .into_iter()
            .find(|file| self.sources.contains_key(file))
            .map(|file| (file, inside))
    }

    fn imports(&mut self, tree: &UseTree, prefix: &mut Vec<String>) {
        let line = tree.span().start().line;
        match tree {
            UseTree::Path(path) => {
                prefix.push(plain(&path.ident));
                self.imports(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Name(name) => self.import(prefix, &plain(&name.ident), None, line),
            UseTree::Rename(name) => {
                let to = plain(&name.rename);
                self.import(prefix, &plain(&name.ident), Some(to), line);
            }
            UseTree::Glob(_) => {
                self.here().globs.push(prefix.clone());
                self.refer(prefix.clone(), line);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.imports(tree, prefix);
                }
            }
        }
    }

    fn import(&mut self, prefix: &[String], name: &str, to: Option<String>, line: usize) {
        let mut path = prefix.to_vec();
        if name != "self" || prefix.is_empty() {
            path.push(name.to_owned());
        }
        let name = to.or_else(|| path.last().cloned()).unwrap_or_default();
        self.here().imports.push(Import {
            name,
            path: path.clone(),
        });
        self.refer(path, line);
    }

    fn refer(&mut self, path: Vec<String>, line: usize) {
        self.here().references.push(Reference { path, line });
    }

    /// A path in code. A single name in small letters may be a variable: it counts only where it is called.
    fn name(&mut self, path: Vec<String>, line: usize, called: bool) {
        let counts = match path.as_slice() {
            [] => false,
            [one] => called || one.starts_with(|c: char| c.is_uppercase()),
            _ => true,
        };
        if counts {
            self.refer(path, line);
        }
    }

    /// The paths among the words of a macro call, whose grammar is its own.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, mark: char| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == mark);
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) => {
                    // A lifetime, a field or method, the rest of a longer path.
                    let continues = at > 0 && ['\'', '.', ':'].iter().any(|&mark| is(at - 1, mark));
                    let is_type_of_field = at > 1 && is(at - 1, ':') && !is(at - 2, ':');
                    let mut path = vec![plain(first)];
                    while is(at + 1, ':')
                        && is(at + 2, ':')
                        && let Some(TokenTree::Ident(next)) = trees.get(at + 3)
                    {
                        path.push(plain(next));
                        at += 3;
                    }
                    let called = matches!(trees.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    if !continues || is_type_of_field {
                        self.name(path, first.span().start().line, called);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name): (&[Attribute], Option<&syn::Ident>) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Mod(item) => (&item.attrs, None),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Use(item) => (&item.attrs, None),
            _ => (&[], None),
        };
        if for_tests(attributes) {
            return;
        }
        if let Some(name) = name {
            let name = plain(name);
            self.here().items.insert(name);
        }
        match item {
            Item::Mod(item) => self.module(item),
            Item::Use(item) if item.leading_colon.is_none() => {
                self.imports(&item.tree, &mut Vec::new());
            }
            Item::Use(_) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path
                .segments
                .iter()
                .map(|part| plain(&part.ident))
                .collect();
            self.name(names, path.span().start().line, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(name) = function.path.get_ident()
        {
            self.name(vec![plain(name)], name.span().start().line, true);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let line = pattern.ident.span().start().line;
        self.name(vec![plain(&pattern.ident)], line, false);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    /// `pub(super)` names nothing that is used.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// The name without the `r#` of a keyword.
fn plain(name: &proc_macro2::Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// What has these attributes is built for tests only.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let has = |word: &str| {
                list.tokens.clone().into_iter().any(|token| {
                    token
                        .to_string()
                        .split(|c: char| !c.is_alphanumeric())
                        .any(|part| part == word)
                })
            };
            has("test") && !has("not") && !has("any")
        }
        _ => false,
    })
}

/// The value of `#[path = "…"]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(literal) => match &literal.lit {
                    syn::Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
}
