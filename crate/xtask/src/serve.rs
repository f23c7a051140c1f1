//! A static file server for one's own machine: `web/dist`, and `.models` under `/models/`.
//!
//! GET and HEAD, one range a request, a thread a connection. The isolation headers let the page share memory with its
//! workers; the page reads models by their size and in pieces.
//!
//! Source: RFC 9110 (ranges: section 14); HTML, "cross-origin isolation".

use crate::project;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// What is served, and how.
#[derive(Clone, Copy)]
pub struct Site {
    /// Whether answers carry the headers that make a page cross-origin isolated.
    pub is_isolated: bool,
    /// Whether `/models/` is there.
    pub has_models: bool,
}

/// A bound server that does not answer yet.
pub struct Server {
    listener: TcpListener,
    port: u16,
    site: Site,
}

impl Server {
    /// # Errors
    /// If the port is taken.
    pub fn bind(port: u16, site: Site) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("cannot serve on port {port} (another: --port)"))?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, site })
    }

    pub fn address(&self) -> String {
        format!("http://localhost:{}/", self.port)
    }

    /// Answers until the process ends.
    pub fn run(self) -> Result<ExitCode> {
        let site = self.site;
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else { continue };
            // A browser that goes away in the middle of an answer is no one's error.
            std::thread::spawn(move || answer(stream, site).ok());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is read of a request.
struct Request {
    method: String,
    target: String,
    range: Option<String>,
}

fn read_request(stream: &TcpStream) -> io::Result<Request> {
    // A head of more than 64 KiB is cut, and then not understood.
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut words = first.split(' ').map(str::to_string);
    let mut request = Request { method: words.next().unwrap_or_default(), target: words.next().unwrap_or_default(), range: None };
    for line in lines {
        let line = line?;
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("range") => request.range = Some(value.trim().to_string()),
            Some(_) => {}
            None => break,
        }
    }
    Ok(request)
}

fn answer(mut stream: TcpStream, site: Site) -> io::Result<()> {
    let request = read_request(&stream)?;
    let is_head = request.method == "HEAD";
    if request.method != "GET" && !is_head {
        return refuse(&mut stream, "405 Method Not Allowed", "Allow: GET, HEAD\r\n");
    }
    let opened = file_of(&request.target, site.has_models).and_then(|path| Some((File::open(&path).ok()?, path)));
    let Some((mut file, path)) = opened else {
        return refuse(&mut stream, "404 Not Found", "");
    };
    let asked = request.target.split(['?', '#']).next().unwrap_or_default();
    if path.ends_with("index.html") && !asked.ends_with('/') && !asked.ends_with("index.html") {
        // Relative addresses in a folder's page count from the folder.
        return refuse(&mut stream, "301 Moved Permanently", &format!("Location: {asked}/\r\n"));
    }
    let size = file.metadata()?.len();
    let (start, end) = match request.range.as_deref().map(|range| span(range, size)) {
        None | Some(Span::Ignored) => (0, size),
        Some(Span::Part(start, end)) => (start, end),
        Some(Span::Outside) => return refuse(&mut stream, "416 Range Not Satisfiable", &format!("Content-Range: bytes */{size}\r\n")),
    };
    let mut head = String::from(if end - start < size { "HTTP/1.1 206 Partial Content\r\n" } else { "HTTP/1.1 200 OK\r\n" });
    if end - start < size {
        head += &format!("Content-Range: bytes {start}-{}/{size}\r\n", end - 1);
    }
    head += &format!(
        "Content-Type: {}\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\nCache-Control: no-cache\r\nConnection: close\r\n",
        media_type(&path),
        end - start
    );
    if site.is_isolated {
        head +=
            "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\nCross-Origin-Resource-Policy: same-origin\r\n";
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    if !is_head {
        file.seek(SeekFrom::Start(start))?;
        io::copy(&mut file.take(end - start), &mut stream)?;
    }
    Ok(())
}

fn refuse(stream: &mut TcpStream, status: &str, headers: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{status}", status.len())
}

/// The file a request's target names; `None` for what is not below the served folders.
fn file_of(target: &str, has_models: bool) -> Option<PathBuf> {
    let path = decoded(target.split(['?', '#']).next()?)?;
    let path = Path::new(path.strip_prefix('/')?);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let file = match path.strip_prefix("models") {
        Ok(name) if has_models => project::path(".models").join(name),
        Ok(_) => return None,
        Err(_) => project::path("web/dist").join(path),
    };
    let file = if file.is_dir() { file.join("index.html") } else { file };
    file.is_file().then_some(file)
}

/// Percent-decoding; `None` if it is not UTF-8 or a sign lacks its digits.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// What a range header asks for, of a file's bytes.
#[derive(Debug, PartialEq)]
enum Span {
    /// From the first to before the second.
    Part(u64, u64),
    Outside,
    /// Not one range of bytes: the whole file is a right answer.
    Ignored,
}

fn span(range: &str, size: u64) -> Span {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else { return Span::Ignored };
    let (start, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => (first, last.saturating_add(1).min(size)),
        (Ok(first), Err(_)) if last.is_empty() => (first, size),
        (Err(_), Ok(last)) if first.is_empty() => (size.saturating_sub(last), size),
        _ => return Span::Ignored,
    };
    if start < end {
        Span::Part(start, end)
    } else {
        Span::Outside
    }
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jsonl" | "txt" | "md" | "yaml" | "csv" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 9110, section 14.1.2: the examples for a representation of 10 000 bytes.
    #[test]
    fn ranges_are_those_of_the_rfc() {
        assert_eq!(span("bytes=0-499", 10_000), Span::Part(0, 500));
        assert_eq!(span("bytes=-500", 10_000), Span::Part(9_500, 10_000));
        assert_eq!(span("bytes=9500-", 10_000), Span::Part(9_500, 10_000));
        assert_eq!(span("bytes=9500-20000", 10_000), Span::Part(9_500, 10_000));
        assert_eq!(span("bytes=10000-", 10_000), Span::Outside);
        assert_eq!(span("bytes=500-600,601-999", 10_000), Span::Ignored);
        assert_eq!(span("lines=1-2", 10_000), Span::Ignored);
    }

    #[test]
    fn a_path_leaves_no_served_folder() {
        for target in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/models/../../Cargo.toml", "//etc/passwd", "Cargo.toml", "/%zz"] {
            assert_eq!(file_of(target, true), None, "{target}");
        }
    }

    #[test]
    fn percent_signs_are_decoded() {
        assert_eq!(decoded("/a%20b%C3%A9").as_deref(), Some("/a bé"));
        assert_eq!(decoded("%f"), None);
    }
}
