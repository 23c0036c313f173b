import './app/tokens.css';
import './app/fonts.css';
import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/ScrollArea.css';
import '@mantine/core/styles/UnstyledButton.css';
import '@mantine/core/styles/Overlay.css';
import '@mantine/core/styles/Paper.css';
import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/ModalBase.css';
import '@mantine/core/styles/Modal.css';
import './app/mantine.css';
import './app/look.css';
import './app/touch.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { takeToken } from './app/session';
import { language, loadWords } from './lib/text';

// The token in the address is taken out of it before anything else happens.
const token = takeToken();
void loadWords(language()).then(() => createRoot(document.getElementById('root')!).render(<App token={token} />));
