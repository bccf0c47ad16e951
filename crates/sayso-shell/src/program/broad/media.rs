//! Pictures, sound, film, documents, data.

use crate::effect::Verb;
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};

pub(crate) const SPECS: &[Spec] = &[
    Spec::new(&[
        "ffprobe", "mediainfo", "identify", "pdfinfo", "pdffonts", "soxi", "mkvinfo", "flacinfo", "jpeginfo",
        "pngcheck", "webpinfo", "tiffinfo",
    ])
        .style(Style::HARMLESS)
        .operands(Operands::READ),
    Spec::new(&["ffmpeg", "ffplay"])
        .style(Style::WORDS)
        .options(&[options!("
            -i FILE : reads
            -y, -n, -f FMT, -c C, -codec C, -vcodec C, -acodec C, -c:v C, -c:a C, -c:s C, -b:v B, -b:a B, -ss T, -to T, -t T, -r R, -s S, -vf F, -af F, -filter_complex F, -map M, -vn, -an, -sn, -crf N, -preset P
            -ar N, -ac N, -q:v N, -q:a N, -loglevel L, -v L, -hide_banner, -version, -formats, -codecs, -encoders, -decoders, -filters, -threads N, -shortest, -pix_fmt F, -vframes N, -frames:v N, -framerate N, -movflags F, -metadata M
            -loop N, -stream_loop N, -copyts, -strict S, -g N, -bf N, -profile:v P, -level L, -tune T, -maxrate B, -bufsize B, -aspect A, -nostdin, -stats, -safe N, -h, -an, -dn, -vsync M, -async N, -itsoffset T, -disposition D
        ")])
        .operands(Operands::all(Role::Write)),
    Spec::new(&[
        "convert", "magick", "mogrify", "montage", "composite", "compare", "gm", "vips", "cwebp", "dwebp", "optipng",
        "pngquant", "jpegoptim", "jpegtran", "oxipng", "gifsicle", "rsvg-convert", "inkscape", "gimp", "krita",
        "blender", "sox", "lame", "oggenc", "opusenc", "flac", "mkvmerge", "mkvextract", "HandBrakeCLI", "MP4Box",
        "gs", "ps2pdf", "pdftk", "qpdf", "pdftotext", "pdftoppm", "pdfimages", "pdfunite", "pdfseparate", "img2pdf",
        "ocrmypdf", "tesseract", "wkhtmltopdf", "weasyprint", "unoconv", "soffice", "libreoffice", "ebook-convert",
        "dot", "neato", "plantuml", "mmdc", "potrace", "autotrace", "exiftool", "exiv2", "jhead",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            -o --output FILE : makes
            -I, --script F, --python F, --python-expr E, -b, --headless, -config F : runs-code
        ")])
        .judge(converts),
    Spec::new(&[
        "csvtool", "xsv", "qsv", "mlr", "miller", "q", "csvkit", "datamash", "visidata", "vd", "xlsx2csv",
        "parquet-tools", "pqrs", "avro-tools", "orc-tools", "h5dump", "h5ls", "ncdump", "gdalinfo", "ogrinfo",
        "samtools", "bcftools", "bedtools",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("-o --output FILE : makes", "-I --in-place : changes-files", "--from F : reads")])
        .operands(Operands::READ),
    Spec::new(&["jupyter", "jupyter-lab", "jupyter-notebook", "ipcluster"]).style(Style::EXACT.and(Style::HARMLESS).and(Style::FREE)).subs(&[
        Spec::new(&["kernelspec", "--version", "--paths", "troubleshoot", "--data-dir", "--config-dir"]).style(Style::HARMLESS),
        Spec::new(&["notebook", "lab", "server", "console", "qtconsole", "nbclassic"])
            .style(Style::HARMLESS)
            .options(&[options!("--generate-config : changes-settings", "--version")])
            .acts(&[Act::NamedUnless(Code::Serves, &["--version", "--generate-config"])]),
        Spec::new(&["nbconvert", "execute", "trust", "run", "migrate"]).style(Style::HARMLESS).operands(Operands::EDIT).acts(&[Act::Named(Code::RunsCode)]),
        Spec::new(&["labextension", "serverextension", "nbextension"]).style(Style::HARMLESS).acts(&[Act::Named(Code::Installs)]),
    ]),
    Spec::new(&["papermill", "nbstripout", "jupytext"]).style(Style::HARMLESS).operands(Operands::EDIT).acts(&[Act::Named(Code::RunsCode)]),
];

/// What is read and what is written is not told apart: every operand may be either.
fn converts(view: &mut View<'_>) {
    for at in view.operands() {
        if let Some(word) = view.word(at)
            && word.exact() != Some(b"-")
        {
            view.reads(word, at);
            view.path_effect(Verb::Write, word, at, false, crate::effect::Carry::Plain);
        }
    }
}
