// A table that is sorted by a click on a heading and shows its first rows at once, all of them on request.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { usePrinting } from "./widgets";

export interface Column<Row> {
  key: string;
  title: string;
  help?: string;
  left?: boolean;
  value: (row: Row) => number | string | undefined;
  cell: (row: Row) => ComponentChildren;
}

const atOnce = 250;

export function Table<Row>({ rows, columns, sort, onRow, rowKey, selected, caption, rowTest }: {
  rows: Row[];
  columns: Column<Row>[];
  sort: string; // a column's key, with "-" before it for descending
  onRow?: (row: Row) => void;
  rowKey: (row: Row) => string;
  selected?: string;
  caption: string;
  rowTest?: string;
}) {
  const [order, setOrder] = useState(sort);
  const [shown, setShown] = useState(atOnce);
  const printing = usePrinting();
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => setShown(atOnce), [rows]);
  const sorted = useMemo(() => {
    const column = columns.find((c) => c.key === order.replace(/^-/, ""));
    if (!column) return rows;
    const sign = order.startsWith("-") ? -1 : 1;
    const none = (v: unknown) => v === undefined || (typeof v === "number" && Number.isNaN(v));
    return rows
      .map((row, i) => ({ row, i, value: column.value(row) }))
      .sort((a, b) => {
        if (none(a.value) || none(b.value)) return Number(none(a.value)) - Number(none(b.value)) || a.i - b.i;
        const by = typeof a.value === "string" ? a.value.localeCompare(String(b.value)) : Number(a.value) - Number(b.value);
        return sign * by || a.i - b.i;
      })
      .map(({ row }) => row);
  }, [rows, order, columns]);
  const visible = printing ? sorted : sorted.slice(0, shown);
  const move = (e: KeyboardEvent) => {
    const row = (e.target as HTMLElement).closest("tr");
    if (!row || !body.current) return;
    const next = e.key === "ArrowDown" || e.key === "j" ? row.nextElementSibling
      : e.key === "ArrowUp" || e.key === "k" ? row.previousElementSibling
      : e.key === "Home" ? body.current.firstElementChild
      : e.key === "End" ? body.current.lastElementChild : null;
    if (next) {
      e.preventDefault();
      e.stopPropagation();
      (next as HTMLElement).focus();
    }
  };
  return (
    <div class="table-wrap">
      <table>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((c) => {
              const active = order.replace(/^-/, "") === c.key;
              const descending = order.startsWith("-");
              const first = c.left ? c.key : `-${c.key}`;
              return (
                <th class={c.left ? "left" : ""} scope="col" title={c.help}
                  aria-sort={active ? (descending ? "descending" : "ascending") : "none"}>
                  <button type="button" data-sort={c.key}
                    onClick={() => setOrder(active ? (descending ? c.key : `-${c.key}`) : first)}>
                    {c.title}<span class="sort-mark" aria-hidden="true">{active ? (descending ? " ↓" : " ↑") : ""}</span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={move}>
          {visible.map((row, i) => {
            const key = rowKey(row);
            return (
              <tr key={key} data-row={rowTest ?? key} class={`${onRow ? "link" : ""} ${key === selected ? "selected" : ""}`}
                tabIndex={onRow ? (i === 0 ? 0 : -1) : undefined}
                onClick={() => onRow?.(row)}
                onKeyDown={(e) => {
                  if (onRow && (e.key === "Enter" || e.key === " ") && e.target === e.currentTarget) {
                    e.preventDefault();
                    onRow(row);
                  }
                }}>
                {columns.map((c) => <td class={c.left ? "left" : ""}>{c.cell(row)}</td>)}
              </tr>
            );
          })}
        </tbody>
      </table>
      {sorted.length > visible.length && (
        <button type="button" class="more" onClick={() => setShown(sorted.length)}>
          Show all {sorted.length.toLocaleString("en-US")} rows
        </button>
      )}
      {sorted.length === 0 && <p class="empty">Nothing matches.</p>}
    </div>
  );
}
