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
# (whether its cases pass is for the runner to say)
PAGE_OUT=$here "$BUILD/tests/unit/test_page" >/dev/null 2>&1 || true
for page in full empty hostile huge; do
    [ -s $page.html ] || { echo "test_page left no $page.html"; exit 1; }
done

browse() { # log, then options and a file
    log=$1
    shift
    "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --disable-dev-shm-usage --hide-scrollbars --allow-file-access-from-files \
        --user-data-dir="$here/profile" --enable-logging=stderr --v=0 "$@" 2>"$log"
    if grep CONSOLE "$log" >&2; then
        echo "the browser complains about the page" >&2
        exit 1
    fi
}

# The page has no script, and its frame may not run any; the page around it may measure it.
cat >measure.html <<EOF
<!doctype html><title>measure</title><p id=out>nothing</p><script>
const faults = [];
let frames = 0;
async function one(page, width) {
  const f = document.createElement('iframe');
  f.width = width; f.height = 900; f.src = page + '.html';
  const loaded = new Promise(done => f.onload = done);
  document.body.append(f);
  await loaded;
  const say = what => faults.push(page + ' at ' + width + ': ' + what);
  const d = f.contentDocument;
  const wide = d.documentElement.scrollWidth;
  if (wide > width) say('the page scrolls sideways to ' + wide);
  for (const s of d.querySelectorAll('svg')) {
    const r = s.getBoundingClientRect();
    if (r.width < 200 || r.height < 40) say('a drawing of ' + r.width + ' x ' + r.height);
  }
  if (getComputedStyle(d.querySelector('h1')).fontSize === '32px') say('the style is not applied');
  frames++;
  f.remove();
}
(async () => {
  for (const page of ['report', 'full', 'empty', 'hostile', 'huge'])
    for (const width of [390, 768, 1280])
      await one(page, width);
  document.getElementById('out').textContent = faults.join('; ') || frames + ' frames fit';
})();
</script>
EOF
browse log --virtual-time-budget=60000 --disable-web-security --dump-dom \
    "file://$here/measure.html" >dom
grep -q '<p id="out">15 frames fit</p>' dom || { grep '<p id="out">' dom; exit 1; }

shoot() { # width, theme, the browser's number for it
    browse log --blink-settings=preferredColorScheme="$3" --window-size="$1",3000 \
        --screenshot="$here/report-$1-$2.png" "file://$here/report.html"
    [ -s "report-$1-$2.png" ] || { echo "no screenshot at $1 px, $2"; exit 1; }
}
shoot 1280 light 1
shoot 390 dark 0
[ -z "${SHOTS:-}" ] || cp report.html report-*.png "$SHOTS/"
