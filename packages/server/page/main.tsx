// The web page of the server. The page holds its state in the browser, and calls the same routes as
// every other client. Text of sandboxes is only ever inserted as text. Next: `app.tsx`.

import { render } from 'preact';
import { App } from './app';
import './style.css';

render(<App />, document.getElementById('root') as HTMLElement);
