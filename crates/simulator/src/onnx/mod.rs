//! A scoring network from an ONNX file: rows of numbers in, one score per row out.
//!
//! It knows the operators of small networks that work row by row (`Gemm`, `MatMul`, `Add`, `Sub`, `Mul`, `Div`, `Relu`, `LeakyRelu`, `Tanh`,
//! `Sigmoid`, `Identity`) on 32-bit floats, and says which other one a file asks for. Sums go in the order of inputs.

mod wire;

use std::path::{Path, PathBuf};

use thiserror::Error;

use wire::{Fields, Value, message, text, varints};

/// Larger files are refused.
const MOST_BYTES: u64 = 64 << 20;
/// Layers with more weights in all are refused: a file may use one constant many times.
const MOST_WEIGHTS: usize = 1 << 24;
/// Wider layers are refused.
const MOST_WIDTH: usize = 1 << 16;

/// Why a file is no network that can be run.
#[derive(Debug, Clone, Error)]
#[error("{}: {problem}", file.display())]
pub struct OnnxError {
    /// The file that was named.
    pub file: PathBuf,
    /// What is wrong and what is expected.
    pub problem: String,
}

/// A network, ready to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    inputs: usize,
    steps: Vec<Step>,
    /// Which value is the score.
    output: usize,
    /// How many values there are, the input included.
    values: usize,
}

/// An operator and the values it reads and writes; the input is value 0.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    from: usize,
    to: usize,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// Weights by input, then output; and what is added.
    Linear {
        weights: Vec<f32>,
        width: usize,
        bias: Vec<f32>,
    },
    /// With a constant for each column, or one for all.
    Constant(Arithmetic, Vec<f32>, Side),
    /// With another value.
    Both(Arithmetic, usize),
    Relu,
    LeakyRelu(f32),
    Tanh,
    Sigmoid,
    Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
}

impl Arithmetic {
    fn of(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
        }
    }
}

/// On which side a constant stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Network {
    /// Reads a file whose rows have so many inputs.
    ///
    /// # Errors
    /// It cannot be read, is no ONNX, or asks for more than this module knows.
    pub fn read(file: &Path, inputs: usize) -> Result<Self, OnnxError> {
        let wrong = |problem: String| OnnxError {
            file: file.to_path_buf(),
            problem,
        };
        let size = std::fs::metadata(file).map(|metadata| metadata.len());
        let size = size.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if size > MOST_BYTES {
            return Err(wrong(format!(
                "found {size} bytes, expected at most {MOST_BYTES}"
            )));
        }
        let bytes =
            std::fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        Self::parse(&bytes, inputs).map_err(wrong)
    }

    /// The network that `bytes` are.
    ///
    /// # Errors
    /// What is wrong and what is expected.
    pub fn parse(bytes: &[u8], inputs: usize) -> Result<Self, String> {
        let graph = Graph::parse(bytes)?;
        Builder::new(&graph, inputs)?.build()
    }

    /// How many numbers a row has.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The score of a row.
    #[must_use]
    pub fn score(&self, row: &[f32]) -> f32 {
        let mut values: Vec<Vec<f32>> = vec![Vec::new(); self.values];
        values[0] = row.to_vec();
        for step in &self.steps {
            values[step.to] = step.what.of(&values[step.from], &values);
        }
        values[self.output].first().copied().unwrap_or(0.0)
    }
}

impl What {
    fn of(&self, from: &[f32], values: &[Vec<f32>]) -> Vec<f32> {
        let each = |f: &dyn Fn(f32) -> f32| from.iter().map(|&x| f(x)).collect();
        match self {
            Self::Linear {
                weights,
                width,
                bias,
            } => {
                let mut sums = vec![0.0; *width];
                for (x, row) in from.iter().zip(weights.chunks_exact(*width)) {
                    for (sum, weight) in sums.iter_mut().zip(row) {
                        *sum += x * weight;
                    }
                }
                for (sum, bias) in sums.iter_mut().zip(bias) {
                    *sum += bias;
                }
                sums
            }
            Self::Constant(arithmetic, constant, side) => {
                let constants = constant.iter().cycle();
                let pair = |(&x, &c): (&f32, &f32)| match side {
                    Side::Left => arithmetic.of(c, x),
                    Side::Right => arithmetic.of(x, c),
                };
                from.iter().zip(constants).map(pair).collect()
            }
            Self::Both(arithmetic, other) => {
                let pairs = from.iter().zip(&values[*other]);
                pairs.map(|(&a, &b)| arithmetic.of(a, b)).collect()
            }
            Self::Relu => each(&|x| x.max(0.0)),
            Self::LeakyRelu(slope) => each(&|x| if x < 0.0 { slope * x } else { x }),
            Self::Tanh => each(&f32::tanh),
            Self::Sigmoid => each(&|x| 1.0 / (1.0 + (-x).exp())),
            Self::Identity => from.to_vec(),
        }
    }
}

#[derive(Debug, Default)]
struct Graph {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

#[derive(Debug, Default)]
struct Node {
    kind: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Attributes that are one number.
    numbers: Vec<(String, f32)>,
}

#[derive(Debug, Default, Clone)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
    numbers: Vec<f32>,
}

impl Graph {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        for field in Fields::new(bytes) {
            if let (7, value) = field? {
                return Self::of(message(value)?);
            }
        }
        Err("it holds no graph: expected an ONNX file".to_string())
    }

    fn of(fields: Fields<'_>) -> Result<Self, String> {
        let mut graph = Self::default();
        for field in fields {
            match field? {
                (1, value) => graph.nodes.push(Node::of(message(value)?)?),
                (5, value) => graph.constants.push(Tensor::of(message(value)?)?),
                (11, value) => graph.inputs.push(name_of(message(value)?)?),
                (12, value) => graph.outputs.push(name_of(message(value)?)?),
                _ => {}
            }
        }
        Ok(graph)
    }

    fn constant(&self, name: &str) -> Option<&Tensor> {
        self.constants.iter().find(|tensor| tensor.name == name)
    }
}

/// The name of an input or output, its first field.
fn name_of(fields: Fields<'_>) -> Result<String, String> {
    for field in fields {
        if let (1, value) = field? {
            return text(value);
        }
    }
    Err("an input or output has no name".to_string())
}

impl Node {
    fn of(fields: Fields<'_>) -> Result<Self, String> {
        let mut node = Self::default();
        for field in fields {
            match field? {
                (1, value) => node.inputs.push(text(value)?),
                (2, value) => node.outputs.push(text(value)?),
                (4, value) => node.kind = text(value)?,
                (5, value) => {
                    let (mut name, mut number) = (String::new(), None);
                    for field in message(value)? {
                        match field? {
                            (1, value) => name = text(value)?,
                            (2, Value::Fixed32(bits)) => number = Some(f32::from_bits(bits)),
                            (3, Value::Varint(whole)) => number = Some(whole as i64 as f32),
                            _ => {}
                        }
                    }
                    node.numbers.extend(number.map(|number| (name, number)));
                }
                _ => {}
            }
        }
        Ok(node)
    }

    fn number(&self, name: &str, otherwise: f32) -> f32 {
        let found = self.numbers.iter().find(|(there, _)| there == name);
        found.map_or(otherwise, |(_, number)| *number)
    }
}

impl Tensor {
    fn of(fields: Fields<'_>) -> Result<Self, String> {
        let mut tensor = Self::default();
        let (mut shape, mut kind) = (Vec::new(), 0);
        for field in fields {
            match field? {
                (1, value) => varints(value, &mut shape)?,
                (2, Value::Varint(number)) => kind = number,
                (4, Value::Fixed32(bits)) => tensor.numbers.push(f32::from_bits(bits)),
                (4 | 9, Value::Bytes(bytes)) => {
                    let floats = bytes.chunks_exact(4);
                    let floats = floats.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    tensor.numbers.extend(floats);
                }
                (8, value) => tensor.name = text(value)?,
                _ => {}
            }
        }
        let name = &tensor.name;
        if kind != 1 {
            return Err(format!(
                "constant `{name}`: found numbers of kind {kind}, expected 32-bit floats (kind 1)"
            ));
        }
        for side in shape {
            let side = usize::try_from(side)
                .ok()
                .filter(|side| *side <= MOST_WIDTH);
            let side =
                side.ok_or_else(|| format!("constant `{name}`: found a side beyond {MOST_WIDTH}"))?;
            tensor.shape.push(side);
        }
        let expected = tensor
            .shape
            .iter()
            .try_fold(1usize, |product, side| product.checked_mul(*side));
        if expected != Some(tensor.numbers.len()) {
            return Err(format!(
                "constant `{name}`: found {} numbers, expected those of shape {:?} in the file itself",
                tensor.numbers.len(),
                tensor.shape
            ));
        }
        if tensor.numbers.iter().any(|number| !number.is_finite()) {
            return Err(format!(
                "constant `{name}`: found a number that is not finite"
            ));
        }
        Ok(tensor)
    }
}

/// Turns a graph into steps.
struct Builder<'g> {
    graph: &'g Graph,
    /// Names and widths of the values so far.
    values: Vec<(String, usize)>,
    steps: Vec<Step>,
    /// Numbers of all values and constants so far.
    size: usize,
}

impl<'g> Builder<'g> {
    fn new(graph: &'g Graph, inputs: usize) -> Result<Self, String> {
        let mut open = graph
            .inputs
            .iter()
            .filter(|name| graph.constant(name).is_none());
        let (Some(name), None) = (open.next(), open.next()) else {
            return Err(format!(
                "found {} inputs, expected one: rows of {inputs} features",
                graph.inputs.len()
            ));
        };
        Ok(Self {
            graph,
            values: vec![(name.clone(), inputs)],
            steps: Vec::new(),
            size: inputs,
        })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|(there, _)| there == name)
    }

    fn build(mut self) -> Result<Network, String> {
        for node in &self.graph.nodes {
            self.add(node)
                .map_err(|problem| format!("operator {}: {problem}", node.kind))?;
        }
        let [output] = &self.graph.outputs[..] else {
            let found = self.graph.outputs.len();
            return Err(format!(
                "found {found} outputs, expected one: a score per row"
            ));
        };
        let at = self.find(output);
        let at = at.ok_or_else(|| format!("output `{output}` is made by no operator"))?;
        let width = self.values[at].1;
        if width != 1 {
            return Err(format!(
                "output `{output}`: found {width} columns, expected one score per row"
            ));
        }
        Ok(Network {
            inputs: self.values[0].1,
            steps: self.steps,
            output: at,
            values: self.values.len(),
        })
    }

    fn add(&mut self, node: &Node) -> Result<(), String> {
        let [output] = &node.outputs[..] else {
            return Err("expected one output".to_string());
        };
        let value = |at: usize| -> Result<usize, String> {
            let name = node.inputs.get(at).ok_or("an input is missing")?;
            let found = self.find(name);
            found.ok_or_else(|| format!("input `{name}` is neither a constant nor made before"))
        };
        let (from, what, width) = match node.kind.as_str() {
            "Gemm" | "MatMul" => {
                let from = value(0)?;
                let (what, width) = self.linear(node, self.values[from].1)?;
                (from, what, width)
            }
            "Add" => self.arithmetic(node, Arithmetic::Add)?,
            "Sub" => self.arithmetic(node, Arithmetic::Sub)?,
            "Mul" => self.arithmetic(node, Arithmetic::Mul)?,
            "Div" => self.arithmetic(node, Arithmetic::Div)?,
            kind => {
                let what = match kind {
                    "Relu" => What::Relu,
                    "LeakyRelu" => What::LeakyRelu(node.number("alpha", 0.01)),
                    "Tanh" => What::Tanh,
                    "Sigmoid" => What::Sigmoid,
                    "Identity" | "Dropout" => What::Identity,
                    _ => {
                        return Err(
                            "is not known; expected Gemm, MatMul, Add, Sub, Mul, Div, Relu, LeakyRelu, Tanh, Sigmoid or Identity"
                                .to_string(),
                        );
                    }
                };
                let from = value(0)?;
                (from, what, self.values[from].1)
            }
        };
        self.size += width
            + match &what {
                What::Linear { weights, .. } => weights.len(),
                What::Constant(_, numbers, _) => numbers.len(),
                _ => 0,
            };
        if self.size > MOST_WEIGHTS {
            return Err(format!("expected at most {MOST_WEIGHTS} weights in all"));
        }
        let to = self.values.len();
        self.values.push((output.clone(), width));
        self.steps.push(Step { from, to, what });
        Ok(())
    }

    fn linear(&self, node: &Node, inputs: usize) -> Result<(What, usize), String> {
        let name = node.inputs.get(1).ok_or("its weights are missing")?;
        let tensor = self.graph.constant(name);
        let tensor = tensor.ok_or_else(|| format!("weights `{name}`: expected a constant"))?;
        let (gemm, turned) = (node.kind == "Gemm", node.number("transB", 0.0) != 0.0);
        if gemm && node.number("transA", 0.0) != 0.0 {
            return Err("transA: expected 0".to_string());
        }
        let (scale, bias_scale) = match gemm {
            true => (node.number("alpha", 1.0), node.number("beta", 1.0)),
            false => (1.0, 1.0),
        };
        let [rows, columns] = tensor.shape[..] else {
            let shape = &tensor.shape;
            return Err(format!(
                "weights `{name}`: found shape {shape:?}, expected two sides"
            ));
        };
        let turned = gemm && turned;
        let (height, width) = if turned {
            (columns, rows)
        } else {
            (rows, columns)
        };
        if height != inputs || width == 0 {
            return Err(format!(
                "weights `{name}`: found {height} inputs and {width} outputs, expected {inputs} inputs and at least one output"
            ));
        }
        let at = |input: usize, output: usize| match turned {
            true => tensor.numbers[output * columns + input],
            false => tensor.numbers[input * columns + output],
        };
        let weights = (0..height)
            .flat_map(|input| (0..width).map(move |output| (input, output)))
            .map(|(input, output)| scale * at(input, output))
            .collect();
        let bias = match node.inputs.get(2).filter(|name| gemm && !name.is_empty()) {
            None => Vec::new(),
            Some(name) => {
                let tensor = self.graph.constant(name);
                let tensor = tensor.ok_or_else(|| format!("bias `{name}`: expected a constant"))?;
                let numbers = tensor.numbers.iter().map(|number| bias_scale * number);
                match tensor.numbers.len() {
                    1 => vec![bias_scale * tensor.numbers[0]; width],
                    found if found == width => numbers.collect(),
                    found => {
                        return Err(format!(
                            "bias `{name}`: found {found} numbers, expected {width}"
                        ));
                    }
                }
            }
        };
        let what = What::Linear {
            weights,
            width,
            bias,
        };
        Ok((what, width))
    }

    fn arithmetic(
        &self,
        node: &Node,
        arithmetic: Arithmetic,
    ) -> Result<(usize, What, usize), String> {
        let [a, b] = &node.inputs[..] else {
            return Err("expected two inputs".to_string());
        };
        let (from, what) = match (self.find(a), self.find(b)) {
            (Some(a), Some(b)) => {
                let (left, right) = (self.values[a].1, self.values[b].1);
                if left != right {
                    return Err(format!(
                        "found {left} and {right} columns, expected as many"
                    ));
                }
                (a, What::Both(arithmetic, b))
            }
            (Some(at), None) => (at, self.constant(b, arithmetic, Side::Right)?),
            (None, Some(at)) => (at, self.constant(a, arithmetic, Side::Left)?),
            (None, None) => return Err("expected an input that depends on the row".to_string()),
        };
        let width = self.values[from].1;
        if let What::Constant(_, numbers, _) = &what
            && ![1, width].contains(&numbers.len())
        {
            let found = numbers.len();
            return Err(format!(
                "found a constant of {found} numbers, expected 1 or {width}"
            ));
        }
        Ok((from, what, width))
    }

    fn constant(&self, name: &str, arithmetic: Arithmetic, side: Side) -> Result<What, String> {
        let tensor = self.graph.constant(name);
        let tensor = tensor
            .ok_or_else(|| format!("input `{name}` is neither a constant nor made before"))?;
        Ok(What::Constant(arithmetic, tensor.numbers.clone(), side))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field with bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        assert!(bytes.len() < 128 * 128);
        let mut all = vec![number << 3 | 2];
        if bytes.len() >= 128 {
            all.push((bytes.len() % 128) as u8 | 0x80);
            all.push((bytes.len() / 128) as u8);
        } else {
            all.push(bytes.len() as u8);
        }
        all.extend(bytes);
        all
    }

    fn tensor(name: &str, shape: &[u8], numbers: &[f32]) -> Vec<u8> {
        let raw: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let all = [
            field(1, shape),
            vec![2 << 3, 1],
            field(8, name.as_bytes()),
            field(9, &raw),
        ];
        field(5, &all.concat())
    }

    fn node(kind: &str, inputs: &[&str], output: &str) -> Vec<u8> {
        let mut all: Vec<u8> = inputs.iter().flat_map(|i| field(1, i.as_bytes())).collect();
        all.extend(field(2, output.as_bytes()));
        all.extend(field(4, kind.as_bytes()));
        field(1, &all)
    }

    fn model(parts: &[Vec<u8>]) -> Vec<u8> {
        let ends = [field(11, &field(1, b"x")), field(12, &field(1, b"y"))];
        field(7, &[parts.concat(), ends.concat()].concat())
    }

    #[test]
    fn a_small_network_scores_as_by_hand() {
        let bytes = model(&[
            tensor("w", &[2, 2], &[1.0, -1.0, 2.0, 0.5]),
            tensor("b", &[2], &[0.5, 0.0]),
            tensor("v", &[2, 1], &[1.0, 4.0]),
            tensor("half", &[1], &[0.5]),
            node("Gemm", &["x", "w", "b"], "h"),
            node("Relu", &["h"], "r"),
            node("MatMul", &["r", "v"], "s"),
            node("Sub", &["half", "s"], "y"),
        ]);
        let network = Network::parse(&bytes, 2).unwrap();
        // h = (1 + 4 + 0.5, -1 + 1) = (5.5, 0); s = 5.5; y = 0.5 - 5.5.
        assert_eq!(network.score(&[1.0, 2.0]), -5.0);
        // h = (-1.5, 2); s = 8.
        assert_eq!(network.score(&[-2.0, 0.0]), -7.5);
        assert_eq!(network.inputs(), 2);
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        let weights = tensor("w", &[2, 1], &[1.0, 1.0]);
        let problem = |parts: &[Vec<u8>]| Network::parse(&model(parts), 2).unwrap_err();
        let with = |n: Vec<u8>| problem(&[weights.clone(), n]);
        assert!(with(node("Conv", &["x", "w"], "y")).contains("operator Conv: is not known"));
        assert!(with(node("MatMul", &["x", "u"], "y")).contains("weights `u`"));
        assert!(with(node("MatMul", &["z", "w"], "y")).contains("input `z`"));
        assert!(with(node("Relu", &["x"], "y")).contains("found 2 columns, expected one"));
        assert!(with(node("MatMul", &["x", "w"], "z")).contains("made by no operator"));
        let wide = problem(&[
            tensor("w", &[3, 1], &[1.0; 3]),
            node("MatMul", &["x", "w"], "y"),
        ]);
        assert!(wide.contains("found 3 inputs"), "{wide}");
        let short = problem(&[
            tensor("w", &[2, 1], &[1.0]),
            node("MatMul", &["x", "w"], "y"),
        ]);
        assert!(short.contains("found 1 numbers"), "{short}");
        let odd = problem(&[tensor("w", &[2, 1], &[1.0, f32::NAN])]);
        assert!(odd.contains("not finite"), "{odd}");
        assert!(Network::parse(b"nothing", 2).is_err());
        assert!(Network::parse(&[], 2).unwrap_err().contains("no graph"));
    }
}
