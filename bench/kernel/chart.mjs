// chart.mjs - small line charts with logarithmic axes, as one SVG without scripts.
// Colours stand on white and on black; there is no background.

const WIDTH = 420, HEIGHT = 300;
const LEFT = 62, RIGHT = 26, TOP = 44, BOTTOM = 66;
const COLOURS = { 'wall time': '#2f7ed8', 'server CPU': '#d9731a', 'SQLite alone': '#5a9a4a',
    'KB written': '#8a6bbf' };
const GREY = '#808080';

function short(n) {
    if (n >= 1e6 && n % 1e5 === 0) return `${n / 1e6}M`;
    if (n >= 1e3 && n % 1e2 === 0) return `${n / 1e3}k`;
    return n.toLocaleString('en-US');
}
const decades = (from, to) => {
    const marks = [];
    for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(Math.log10(to)); e++)
        marks.push(Number(`1e${e}`));
    return marks;
};

function text(x, y, content, more = '') {
    return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${GREY}" ${more}>${content}</text>`;
}

function drawOne(c) {
    const values = c.points.flatMap(p => c.series.map(s => p[s])).filter(v => v > 0);
    const xs = c.points.map(p => p.x);
    const yMarks = decades(Math.min(...values), Math.max(...values));
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)].map(Math.log10);
    const [y0, y1] = [yMarks[0], yMarks.at(-1)].map(Math.log10);
    const px = v => LEFT + ((Math.log10(v) - x0) / (x1 - x0 || 1)) * (WIDTH - LEFT - RIGHT);
    const py = v => HEIGHT - BOTTOM - ((Math.log10(v) - y0) / (y1 - y0 || 1)) *
        (HEIGHT - TOP - BOTTOM);
    const out = [text(LEFT, 20, `${c.title}: ${c.unit}`, 'font-weight="600" font-size="13"')];

    for (const m of yMarks) {
        out.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${py(m).toFixed(1)}" ` +
                 `y2="${py(m).toFixed(1)}" stroke="${GREY}" stroke-opacity="0.3"/>`);
        out.push(text(LEFT - 6, py(m) + 4, short(m), 'text-anchor="end"'));
    }
    const every = Math.ceil(xs.length / 8);
    xs.forEach((x, i) => {
        if ((xs.length - 1 - i) % every === 0)
            out.push(text(px(x), HEIGHT - BOTTOM + 16, short(x), 'text-anchor="middle"'));
    });
    out.push(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 33, c.x, 'text-anchor="middle"'));
    c.series.forEach((s, i) => {
        const colour = COLOURS[s];
        const points = c.points.filter(p => p[s] > 0);
        out.push(`<polyline fill="none" stroke="${colour}" stroke-width="2" points="` +
                 `${points.map(p => `${px(p.x).toFixed(1)},${py(p[s]).toFixed(1)}`).join(' ')}"/>`);
        for (const p of points)
            out.push(`<circle cx="${px(p.x).toFixed(1)}" cy="${py(p[s]).toFixed(1)}" r="2.5" ` +
                     `fill="${colour}"/>`);
        const at = LEFT + i * 112;
        out.push(`<line x1="${at}" x2="${at + 18}" y1="${HEIGHT - 14}" y2="${HEIGHT - 14}" ` +
                 `stroke="${colour}" stroke-width="2"/>`);
        out.push(text(at + 23, HEIGHT - 10, s));
    });
    return out.join('\n');
}

/** All charts, two in a row. */
export function drawGrowth(charts) {
    const columns = Math.min(2, charts.length);
    const width = columns * WIDTH, height = Math.ceil(charts.length / 2) * HEIGHT;
    const placed = charts.map((c, i) => `<g transform="translate(${(i % 2) * WIDTH} ` +
        `${Math.floor(i / 2) * HEIGHT})">\n${drawOne(c)}\n</g>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
        `width="${width}" height="${height}" font-family="sans-serif" font-size="11">\n` +
        `<title>What a step costs</title>\n${placed.join('\n')}\n</svg>\n`;
}
