// The default theme with a component for the landing page. The site adds no other style.

import DefaultTheme from 'vitepress/theme';
import MeasuredFigures from './measured-figures.mjs';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MeasuredFigures', MeasuredFigures);
  },
};
