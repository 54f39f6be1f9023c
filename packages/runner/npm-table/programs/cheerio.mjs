// cheerio: selecting, changing and printing HTML.

import * as cheerio from 'cheerio';

const $ = cheerio.load('<ul id="f"><li class="a">Apple<li class="b" data-x=\'{"y":1}\'>Orange<li>Pear &amp; more</ul><p>tail');
console.log($('li').length, $('.b').text(), $('li:nth-child(3)').html(), $('.b').data('x'));
$('.a').addClass('fresh').attr('title', '"q"').after('<li>new</li>');
$('li:contains("Pear")').replaceWith((_index, element) => `<li><b>${$(element).text().toLowerCase()}</b></li>`);
console.log($.html());
console.log(
  $('li')
    .map((_index, element) => $(element).text())
    .get(),
  $('ul > li ~ li').length,
);
console.log(cheerio.load('<a><b/></a>', { xml: true }).xml());
