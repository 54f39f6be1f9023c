"""Builds, writes, reads and searches a tree of XML."""

import xml.etree.ElementTree as tree


def run():
    total = 0
    for _ in range(6):
        root = tree.Element("root")
        for number in range(600):
            item = tree.SubElement(root, "item", id=str(number), kind=str(number % 7))
            tree.SubElement(item, "name").text = f"name & {number}"
            tree.SubElement(item, "price").text = str(number * 1.5)
        text = tree.tostring(root)
        again = tree.fromstring(text)
        total += len(text) + len(again.findall("item[@kind='3']/name"))
        total += int(sum(float(price.text) for price in again.iter("price")))
    return total
