// The default theme with the colours of the site and a component for the landing page.

import DefaultTheme from 'vitepress/theme';
import MeasuredFigures from './measured-figures.mjs';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MeasuredFigures', MeasuredFigures);
  },
};
