import { render } from "preact";
import { App } from "./app";
import { loadPage } from "./data";

const root = document.getElementById("app")!;
root.textContent = "";
render(<App page={loadPage()} />, root);
