// Small parts that several pages use.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Grade, Message, Metric } from "./data";
import { nameParts } from "./format";

const glyphs: Record<Grade, string> = { counted: "●", modelled: "◐", estimated: "○" };

/** How far a number can be trusted: a shape, so that it reads without colour; its reason on hover and for readers. */
export function GradeMark({ grade, reason, word }: { grade?: Grade; reason?: string; word?: boolean }) {
  if (!grade) return null;
  const text = reason ? `${grade}: ${reason}` : grade;
  return (
    <span class={`grade ${grade}`} title={text} role="img" aria-label={text}>
      {glyphs[grade]}{word && <span class="grade-word"> {grade}</span>}
    </span>
  );
}

export function Value({ metric, text }: { metric?: Metric; text?: string }) {
  if (!metric) return <NotModelled />;
  return <span class="num">{text} <GradeMark grade={metric.grade} reason={metric.reason} /></span>;
}

export function NotModelled({ what }: { what?: string }) {
  return <span class="not-modelled" title="needs a model of the caches or of time, which this report does not have">{what ?? "not modelled yet"}</span>;
}

export function KernelName({ name, full }: { name: string; full?: boolean }) {
  const [before, base, after] = nameParts(name);
  return (
    <span class="kernel-name" title={name}>
      {full && <span class="dim">{before}</span>}<b>{base}</b><span class="dim">{after}</span>
    </span>
  );
}

/** A share as a bar with its number beside it, so that it reads without colour. */
export function Bar({ share, label, tone }: { share: number; label?: ComponentChildren; tone?: "waste" | "good" }) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return (
    <span class={`bar ${tone ?? ""}`}>
      <span class="bar-track" aria-hidden="true"><span class="bar-fill" style={{ width: `${width}%` }} /></span>
      {label !== undefined && <span class="bar-label">{label}</span>}
    </span>
  );
}

export function Messages({ list }: { list: Message[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="messages">
      {list.map((m) => (
        <li class={m.severity}>
          <span class="severity">{m.severity}</span> <code>{m.code}</code> {m.text}
          {m.at && m.at.file && <span class="dim"> at {m.at.file}:{m.at.line}</span>}
          {m.help && <div class="dim">{m.help}</div>}
        </li>
      ))}
    </ul>
  );
}

export function Card({ title, children, note }: { title: string; children: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="card">
      <div class="card-title">{title}</div>
      <div class="card-value">{children}</div>
      {note && <div class="card-note">{note}</div>}
    </div>
  );
}

export function Panel({ title, id, side, children, class: extra }: {
  title: ComponentChildren; id?: string; side?: ComponentChildren; children: ComponentChildren; class?: string;
}) {
  return (
    <section class={`panel ${extra ?? ""}`} id={id}>
      <header class="panel-head"><h2>{title}</h2>{side && <div class="panel-side">{side}</div>}</header>
      {children}
    </section>
  );
}

/** One of a few choices; arrow keys move between them. */
export function Choice<T extends string>({ label, value, options, onChange }: {
  label: string; value: T; options: [T, string][]; onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map(([key, text], i) => (
        <button type="button" role="radio" aria-checked={key === value} tabIndex={key === value ? 0 : -1}
          onClick={() => onChange(key)}
          onKeyDown={(e) => {
            const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
            if (!step) return;
            e.preventDefault();
            e.stopPropagation();
            const next = (i + step + options.length) % options.length;
            onChange(options[next]![0]);
            ((e.currentTarget as HTMLElement).parentElement!.children[next] as HTMLElement).focus();
          }}>{text}</button>
      ))}
    </div>
  );
}

/** True while the page is being printed: everything is shown then. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const media = matchMedia("print");
    const changed = () => setPrinting(media.matches);
    const before = () => setPrinting(true);
    const after = () => setPrinting(false);
    media.addEventListener("change", changed);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    changed();
    return () => {
      media.removeEventListener("change", changed);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}
