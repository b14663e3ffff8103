// Markdown as elements. No text of a model ever becomes markup.

import type { ComponentChildren, VNode } from "preact";
import { memo } from "preact/compat";

import type { Inline } from "../text/inline";
import type { MarkdownBlock } from "../text/markdown";
import { parseMarkdown } from "../text/markdown";
import { CopyButton } from "./CopyButton";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocks(parseMarkdown(text))}</div>;
});

export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0} aria-label={`Code${language === "" ? "" : `, ${language}`}`}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function blocks(list: MarkdownBlock[]): VNode[] {
  return list.map((block, index) => <Block key={index} block={block} />);
}

function Block({ block }: { block: MarkdownBlock }): VNode {
  switch (block.type) {
    case "heading":
      return <Heading level={block.level}>{inlines(block.children)}</Heading>;
    case "paragraph":
      return <p>{inlines(block.children)}</p>;
    case "code":
      return <CodeBlock text={block.text} language={block.language} />;
    case "quote":
      return <blockquote>{blocks(block.blocks)}</blockquote>;
    case "rule":
      return <hr />;
    case "list":
      return <List block={block} />;
    case "table":
      return <Table block={block} />;
  }
}

/** Headings of a message begin below those of the page. */
function Heading({ level, children }: { level: number; children: ComponentChildren }): VNode {
  return (
    <div class={`heading level-${level}`} role="heading" aria-level={Math.min(level + 2, 6)}>
      {children}
    </div>
  );
}

function List({ block }: { block: Extract<MarkdownBlock, { type: "list" }> }): VNode {
  const items = block.items.map((item, index) => {
    const only = item.blocks.length === 1 ? item.blocks[0] : undefined;
    const box =
      item.checked === null ? null : (
        <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? "done" : "not done"} />
      );
    return (
      <li key={index} class={item.checked === null ? "" : "task"}>
        {box}
        {only?.type === "paragraph" ? inlines(only.children) : blocks(item.blocks)}
      </li>
    );
  });
  return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ block }: { block: Extract<MarkdownBlock, { type: "table" }> }): VNode {
  const side = (column: number): string => `align-${block.align[column] ?? "left"}`;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {block.head.map((cell, column) => (
              <th key={column} scope="col" class={side(column)}>
                {inlines(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={side(column)}>
                  {inlines(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(list: Inline[]): ComponentChildren {
  return list.map((node, index) => {
    switch (node.type) {
      case "text":
        return node.text;
      case "code":
        return <code key={index}>{node.text}</code>;
      case "strong":
        return <strong key={index}>{inlines(node.children)}</strong>;
      case "emphasis":
        return <em key={index}>{inlines(node.children)}</em>;
      case "deleted":
        return <del key={index}>{inlines(node.children)}</del>;
      case "break":
        return "\n";
      case "link":
        return (
          <a key={index} href={node.href} target="_blank" rel="noopener noreferrer" title={node.href}>
            {inlines(node.children)}
          </a>
        );
    }
  });
}
