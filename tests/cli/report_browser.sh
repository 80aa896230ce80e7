#!/bin/sh
# The report in a real browser: nothing on the console (the content policy refused nothing), the
# drawings have a size, and at no width does the page itself scroll sideways. Screenshots stay in
# SHOTS, if that is set, to be looked at.
set -eu
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || { echo "skip: no chromium: apt-get install chromium"; exit 77; }
here=$PWD
"$ASSAY" sample "$here/sample" >/dev/null
status=0
"$ASSAY" audit "$here/sample" --report "$here/report.html" --db "$here/a.db" --budget 5s \
    >"$here/out" 2>"$here/err" || status=$?
[ -s report.html ] || { echo "no report (exit status $status)"; cat err; exit 1; }
# pages that the unit test builds by hand: hostile names, an empty run, 92 layers of 896 experts
PAGE_OUT=$here "$BUILD/tests/unit/test_page" >/dev/null 2>&1

browse() { # log, then options and a file
    log=$1
    shift
    "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --disable-dev-shm-usage --hide-scrollbars --allow-file-access-from-files \
        --user-data-dir="$here/profile" --enable-logging=stderr --v=0 "$@" 2>"$log"
    if grep CONSOLE "$log"; then
        echo "the browser complains about the page"
        exit 1
    fi
}

# The page has no script, and its frame may not run any; the page around it may measure it.
frame() { # page
    cat <<EOF
<!doctype html><title>measure</title><p id=out>nothing</p><script>
const widths = [390, 768, 1280];
let report = [];
async function one(width) {
  const f = document.createElement('iframe');
  f.width = width; f.height = 900; f.src = '$1';
  const loaded = new Promise(done => f.onload = done);
  document.body.append(f);
  await loaded;
  const d = f.contentDocument.documentElement;
  report.push(width + ':' + (d.scrollWidth <= width ? 'fits' : 'scrolls to ' + d.scrollWidth));
  for (const s of f.contentDocument.querySelectorAll('svg')) {
    const r = s.getBoundingClientRect();
    if (r.width < 200 || r.height < 40) report.push('flat drawing ' + r.width + 'x' + r.height);
  }
  const h = getComputedStyle(f.contentDocument.querySelector('h1')).fontSize;
  if (h === '32px') report.push('style not applied');
}
(async () => { for (const w of widths) await one(w);
  document.getElementById('out').textContent = report.join(' '); })();
</script>
EOF
}
for page in report full empty hostile huge; do
    frame $page.html >measure.html
    browse log --virtual-time-budget=20000 --disable-web-security --dump-dom \
        "file://$here/measure.html" >dom
    if ! grep -q '<p id="out">390:fits 768:fits 1280:fits</p>' dom; then
        echo "$page.html: $(grep '<p id="out">' dom)"
        exit 1
    fi
done
for width in 1280 390; do
    for theme in light dark; do
        scheme=1
        [ $theme = light ] || scheme=0
        shot=$here/report-$width-$theme.png
        browse log --blink-settings=preferredColorScheme=$scheme --window-size=$width,3000 \
            --screenshot="$shot" "file://$here/report.html"
        [ -s "$shot" ] || { echo "no screenshot at $width px, $theme"; exit 1; }
        [ -z "${SHOTS:-}" ] || cp "$shot" "$SHOTS/"
    done
done
[ -z "${SHOTS:-}" ] || cp report.html "$SHOTS/"
