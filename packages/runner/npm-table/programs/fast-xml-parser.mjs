// fast-xml-parser: XML to objects and back.

import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';

const xml =
  '<?xml version="1.0"?><shop><item id="1" price="2.50">A &amp; B</item><item id="2"><![CDATA[<raw>]]></item><empty/></shop>';
const parsed = new XMLParser({ ignoreAttributes: false, parseAttributeValue: true }).parse(xml);
console.log(JSON.stringify(parsed));
console.log(new XMLBuilder({ ignoreAttributes: false, format: true }).build({ a: { '@_x': 1, b: ['1', '<2>'], c: '' } }));
console.log(XMLValidator.validate('<a><b></a>'), XMLValidator.validate('<a/>'));
