// Colours for source text (CUDA C++) and machine code; every line is marked up on its own, spans that go on over
// several lines are closed and opened again.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";

hljs.registerLanguage("cuda", (h) => {
  const language = cpp(h);
  const keywords = language.keywords as Record<string, string[]>;
  language.name = "CUDA";
  language.aliases = [];
  language.keywords = {
    ...keywords,
    keyword: [...keywords.keyword!, "__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__",
      "__restrict__", "__launch_bounds__", "__forceinline__", "__noinline__", "__grid_constant__"],
    built_in: [...(keywords.built_in ?? []), "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
      "__syncthreads", "__syncwarp", "__ldg", "__shfl_sync", "__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync",
      "atomicAdd", "atomicMax", "atomicMin", "atomicCAS", "atomicExch", "float2", "float3", "float4", "int2", "int4",
      "dim3", "__half", "__half2", "cudaError_t"],
  };
  return language;
});

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

const longest = 400_000; // characters of one file that are coloured; more is shown plain

/** Lines of text as HTML, in their order. */
export function highlightLines(lines: string[]): string[] {
  const text = lines.join("\n");
  if (text.length > longest) return lines.map(escapeHtml);
  const open: string[] = [];
  return hljs.highlight(text, { language: "cuda", ignoreIllegals: true }).value.split("\n").map((line) => {
    const before = open.join("");
    for (const tag of line.match(/<span [^>]*>|<\/span>/g) ?? []) tag === "</span>" ? open.pop() : open.push(tag);
    return before + line + "</span>".repeat(open.length);
  });
}

/** One machine or PTX instruction. */
export function highlightInstruction(text: string): string {
  const [, guard = "", opcode = "", rest = ""] = /^(\s*@!?\S+\s+)?(\S+)(.*)$/s.exec(text) ?? [];
  const operands = escapeHtml(rest).replace(
    /\b(U?R(?:\d+|Z)|U?P(?:\d|T)|%\w+|c\[0x[0-9a-f]+\])|(-?0x[0-9a-f]+|\b\d+\b)/gi,
    (all, register, number) => register ? `<span class="hljs-variable">${all}</span>`
      : number ? `<span class="hljs-number">${all}</span>` : all);
  return `${escapeHtml(guard)}<span class="hljs-keyword">${escapeHtml(opcode)}</span>${operands}`;
}
