create table visits (page text);
